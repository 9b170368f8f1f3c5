// What narrows the list: as chips that can be removed, and as fields for conditions from one end to the other.

import { minuteOf } from "./api.js";
import { element } from "./dom.js";
import { TEXT, fieldLabel, formatDate, formatDistance, formatMoment, formatPrecise, formatZone } from "./strings.js";

// Parameters that are no conditions, or have a place of their own.
const NOT_CHIPS = ["q", "sort_by", "sort_order", "limit", "page_num", "fields", "facets", "zoom", "radius"];
const INSTANTS = ["created_at", "updated_at"];
const MOST_EDITS = 3;
const OPEN = "..";
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {import("./state.js").State} State
 * @typedef {(name: string, value: any) => string} LabelOf
 */

/** @param {string} one @param {string} other @returns {number} how many characters have to be changed */
export function edits(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(one[i - 1] !== other[j - 1])));
    }
    row = next;
  }
  return row[other.length];
}

/** @param {string} name @param {string[]} known @returns {string | null} the name that is probably meant */
export function meant(name, known) {
  const wanted = name.toLowerCase().replaceAll("-", "_");
  const start = known.find((each) => each.split("_")[0].length > 3 && wanted.split("_")[0] === each.split("_")[0]);
  const distances = known.map((each) => ({ each, distance: edits(wanted, each.replace("attributes.", "")) }));
  const nearest = distances.sort((a, b) => a.distance - b.distance)[0];
  return nearest && nearest.distance <= Math.min(MOST_EDITS, wanted.length / 2) ? nearest.each : (start ?? null);
}

/**
 * Draw the chips.
 * @param {HTMLElement} root
 * @param {State} state
 * @param {{known: string[], labelOf: LabelOf}} of the names of parameters; the words for a value
 */
export function drawChips(root, state, { known, labelOf }) {
  const names = [...new Set(state.query.keys())].filter((name) => !NOT_CHIPS.includes(name));
  const chips = names.flatMap((name) => state.all(name).map((value) => chip(state, name, value, { known, labelOf })));
  if (state.get("radius") && !state.get("near")) chips.push(chip(state, "radius", state.get("radius"), { known, labelOf }));
  if (chips.length) chips.push(element("button", { type: "button", class: "quiet", onclick: () => state.clear() }, TEXT.clearAll));
  root.replaceChildren(...chips);
  root.hidden = chips.length === 0;
}

/** @param {State} state @param {string} name @param {string} value @param {{known: string[], labelOf: LabelOf}} of */
function chip(state, name, value, { known, labelOf }) {
  const text = chipText(state, name, value, labelOf);
  const isKnown = known.includes(name);
  const remove = element(
    "button",
    { type: "button", class: isKnown ? "chip" : "chip unknown", "data-name": name, "aria-label": TEXT.remove(text), onclick: () => state.remove(name, value) },
    element("span", {}, text),
    element("span", { class: "cross", "aria-hidden": "true" }, "×"),
  );
  const other = isKnown ? null : meant(name, known);
  if (isKnown) return remove;
  remove.title = TEXT.unknown(name);
  if (other === null) return remove;
  const use = { type: "button", class: "link", onclick: () => state.set({ [name]: "", [other]: value }) };
  return element("span", { class: "row" }, remove, element("button", use, TEXT.did(other)));
}

/** @param {State} state @param {string} name @param {string} value @param {LabelOf} labelOf @returns {string} */
function chipText(state, name, value, labelOf) {
  if (name === "near") {
    const place = state.view.get("place") ?? (value === state.here ? TEXT.here : TEXT.aPoint);
    const radius = Number(state.get("radius"));
    return radius > 0 ? TEXT.withinOf(formatDistance(radius), place) : TEXT.nearPoint(place);
  }
  if (name === "bbox") return TEXT.inArea;
  if (name === "open_at") return Number.isNaN(Date.parse(value)) ? value : TEXT.openAtTime(formatMoment(new Date(value)));
  if (INSTANTS.includes(name) || value.includes("/")) return TEXT.is(fieldLabel(name), intervalText(value));
  return TEXT.is(fieldLabel(name), labelOf(name, value));
}

/** @param {string} value @returns {[string, string]} the ends of an interval, empty where it is open; a value is both */
export function ends(value) {
  const [from, to = from] = value.split("/").map((end) => (end === OPEN ? "" : end));
  return [from, to];
}

/** @param {string} from @param {string} to @returns {string} the value of a filter; empty for no condition */
export function interval(from, to) {
  if (from === to) return from;
  return `${from || OPEN}/${to || OPEN}`;
}

/** @param {string} end @returns {string} an end in words */
const inWords = (end) =>
  DAY.test(end) ? formatDate(end) : /T/.test(end) ? formatMoment(new Date(end)) : end && !Number.isNaN(Number(end)) ? formatPrecise(Number(end)) : end;

/** @param {string} value @returns {string} an interval in words */
export function intervalText(value) {
  const [from, to] = ends(value).map(inWords);
  return from === to ? from : TEXT.between(from, to);
}

/**
 * Return a listener that acts when the focus is in the next part of a field: else what is being written there is drawn anew.
 * @param {(target: any) => void} act
 */
const later = (act) => (/** @type {Event} */ { currentTarget }) => void setTimeout(() => act(currentTarget));

/** @param {string} label @param {Record<string, any>} attributes @returns {HTMLElement} a field with its label */
const field = (label, attributes) => element("label", { class: "field" }, element("span", {}, label), element("input", attributes));

/**
 * Return the fields for the ends of an attribute.
 * @param {Attribute} attribute
 * @param {State} state
 * @returns {HTMLElement}
 */
export function rangeFields({ name, kind }, state) {
  const label = fieldLabel(name);
  const [from, to] = state.get(name) ? ends(state.get(name)) : ["", ""];
  const type = kind === "date" ? { type: "date" } : { type: "text", inputmode: "decimal" };
  const onchange = later((group) => {
    const [first, last] = [...group.querySelectorAll("input")].map(({ value }) => value.trim());
    state.set({ [name]: interval(first, last) });
  });
  return element(
    "div",
    { class: "range-fields", role: "group", "aria-label": label, onchange },
    element("span", { class: "legend", "aria-hidden": "true" }, label),
    field(TEXT.from, { ...type, value: from }),
    field(TEXT.to, { ...type, value: to }),
  );
}

/** @param {State} state @returns {HTMLElement} the field for stores that changed since a day */
export function changedField(state) {
  const value = ends(state.get("updated_at"))[0].slice(0, 10);
  const onchange = later((input) => state.set({ updated_at: input.value && interval(input.value, "") }));
  return field(TEXT.changedSince, { type: "date", value: DAY.test(value) ? value : "", onchange });
}

/** @param {State} state @returns {HTMLElement} the field for stores that are open at a time of the visitor's clock */
export function openAtField(state) {
  const asked = new Date(state.get("open_at"));
  const isSet = !Number.isNaN(asked.getTime());
  const local = isSet ? new Date(asked.getTime() - asked.getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";
  const onchange = later(({ value, validity }) => {
    if (!validity.valid) return; // a year of which only the first digits are written
    const time = value ? new Date(value) : new Date();
    shown.children[0].textContent = TEXT.openAt(formatZone(time)); // of that day: it may be in the summer
    state.set({ open_at: value && minuteOf(time) });
  });
  const attributes = { type: "datetime-local", min: "1970-01-02T00:00", max: "2100-01-01T00:00", value: local, onchange };
  const shown = field(TEXT.openAt(formatZone(isSet ? asked : new Date())), attributes);
  return shown;
}
