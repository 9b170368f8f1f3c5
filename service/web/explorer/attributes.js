// The attributes of the stores: columns that the owner of the data declared, as the service's OpenAPI document types them.

/** What the name of an attribute begins with in parameters. */
export const PREFIX = "attributes.";
// Those that have a menu: a value of another kind is rarely that of many stores.
const WITH_MENU = ["text", "flag", "list"];
const FORMATS = { uri: "url", date: "date", email: "email" };
const KINDS = { string: "text", number: "number", boolean: "flag", array: "list" };

/**
 * @typedef {"text" | "number" | "flag" | "list" | "url" | "email" | "phone" | "image" | "date" | "hours"} Kind
 * @typedef {{name: string, kind: Kind, label: string, group: string, show: "card" | "list" | "never", isFilter: boolean,
 *   hasMenu: boolean, isSorted: boolean}} Attribute its name with the prefix; its label and group as declared, or empty;
 *   whether it can be filtered, has a menu of counted values, and can be sorted by
 */

/**
 * Return the attributes of stores, in the order of their declaration.
 * @param {any} document the OpenAPI document
 * @returns {Attribute[]}
 */
export function attributesOf(document) {
  const declared = Object.entries(document.components.schemas.StoreAttributes?.properties ?? {});
  /** @type {any[]} */
  const parameters = document.paths["/stores"].get.parameters;
  const schemaOf = (/** @type {string} */ name) => parameters.find((each) => each.name === name)?.schema;
  const counted = schemaOf("facets").items.enum;
  const sorted = schemaOf("sort_by").enum;
  return declared.map(([own, schema]) => {
    const name = PREFIX + own;
    const kind = kindOf(schema);
    const { "x-label": label = "", "x-group": group = "", "x-show": show = "card" } = schema;
    const hasMenu = WITH_MENU.includes(kind) && counted.includes(name) && show !== "never";
    return { name, kind, label, group, show, isFilter: schemaOf(name) !== undefined, hasMenu, isSorted: sorted.includes(name) };
  });
}

/** @param {any} schema @returns {Kind} */
function kindOf(schema) {
  const { type, format, $ref } = schema.anyOf.find((/** @type {any} */ each) => each.type !== "null");
  if ($ref) return "hours"; // the only kind that is an object
  return schema["x-kind"] ?? /** @type {any} */ (FORMATS)[format] ?? /** @type {any} */ (KINDS)[type];
}

/**
 * Return the value of a member of a store, which may be an attribute.
 * @param {Record<string, any>} store
 * @param {string} name
 * @returns {any}
 */
export function valueOf(store, name) {
  return name.startsWith(PREFIX) ? store.attributes?.[name.slice(PREFIX.length)] : store[name];
}
