// The table of stores: columns, order, pages.

import { PREFIX, valueOf } from "./attributes.js";
import { element, say } from "./dom.js";
import { TEXT, fieldLabel, formatDate, formatDay, formatDistance, formatNumber, formatPrecise } from "./strings.js";
import { marked, wordsOf } from "./words.js";

const DEFAULT_COLUMNS = ["name", "address_1", "city", "province", "country", "is_open"];
const ORDERS = ["name", "city", "country", "created_at", "updated_at"];
const NUMBERS = ["latitude", "longitude", "distance"];
const DATES = ["created_at", "updated_at"];
const SEARCHED = ["store_id", "name", "address_1", "address_2", "city", "province", "postal_code", "company_id"];
/** How many rows a page has unless the address says another number. */
export const ROWS = 50;
const ROW_CHOICES = [25, 50, 100, 250, 1000];

/**
 * @typedef {Record<string, any>} Store
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {{limit: number, num_pages: number, page_num: number, sort_order: string, sort_by: string,
 *   total_count: number, data: Store[]}} Page
 * @typedef {{companyName: (id: string) => string, linkTo: (id: string) => string, onOpen: (id: string) => void,
 *   onChange: (values: Record<string, string>) => void}} ListActions
 */

/** @param {string} name @param {any} value @returns {string} a value of a record in words */
export function formatValue(name, value) {
  if (value === null || value === undefined || value === "") return TEXT.none;
  if (name === "is_open") return value ? TEXT.open : TEXT.closed;
  if (name === "distance") return formatDistance(value);
  if (DATES.includes(name)) {
    const date = new Date(value);
    return Number.isNaN(date.getTime()) ? String(value) : formatDay(date);
  }
  return String(value);
}

/** @param {import("./attributes.js").Kind | undefined} kind @param {any} value @returns {string} that of an attribute */
export function formatAttribute(kind, value) {
  if (value === null || value === undefined) return TEXT.none;
  if (kind === "flag") return value ? TEXT.yes : TEXT.no;
  if (kind === "number") return formatPrecise(value);
  if (kind === "date") return formatDate(value);
  return kind === "list" ? value.join(", ") : value;
}

/** @param {boolean | null} isOpen @returns {HTMLElement} whether a store is open, not by colour alone */
export function statusBadge(isOpen) {
  const kind = isOpen === null ? "" : isOpen ? "open" : "closed";
  return element("span", { class: `badge ${kind}` }, formatValue("is_open", isOpen));
}

export class List {
  /**
   * @param {{table: HTMLElement, pager: HTMLElement, columns: HTMLElement, order: HTMLSelectElement, empty: HTMLElement}} parts
   * @param {string[]} members the members of a record, in order
   * @param {ListActions} actions
   */
  constructor(parts, members, actions) {
    this.parts = parts;
    this.members = members;
    this.actions = actions;
    /** @type {Map<string, Attribute>} */
    this.attributes = new Map();
    parts.order.addEventListener("change", () => {
      const [sort_by, sort_order] = parts.order.value.split(" ");
      this.actions.onChange({ sort_by, sort_order: sort_order === "desc" ? "desc" : "" });
    });
    /** @type {Page | null} */
    this.page = null;
    /** The words that are marked. */
    this.words = wordsOf("");
  }

  /**
   * Show a page.
   * @param {Page} page
   * @param {{fields: string[], query: string, near: boolean}} view
   */
  show(page, view) {
    this.page = page;
    this.view = view;
    this.#drawTable(page, view);
    this.#drawEmpty(page);
    this.#drawPager(page);
    this.#drawColumns(view);
    this.#drawOrder(page, view);
  }

  /** @param {Attribute[]} attributes those that stores have, which come after the rows */
  setAttributes(attributes) {
    this.attributes = new Map(attributes.map((each) => [each.name, each]));
    if (this.page !== null && this.view !== undefined) this.show(this.page, this.view);
  }

  /** Write the names of companies, which come after the rows. */
  refresh() {
    for (const cell of this.parts.table.querySelectorAll("[data-company]")) {
      const id = /** @type {HTMLElement} */ (cell).dataset.company ?? "";
      cell.replaceChildren(...marked(this.actions.companyName(id), this.words));
    }
  }

  /** @param {boolean} isBusy show that the rows are old */
  busy(isBusy) {
    this.parts.table.classList.toggle("busy", isBusy);
    this.parts.table.setAttribute("aria-busy", String(isBusy));
  }

  /** @param {string} id mark the row of the open store */
  select(id) {
    for (const row of this.parts.table.querySelectorAll("tbody tr")) {
      row.classList.toggle("selected", id !== "" && /** @type {HTMLElement} */ (row).dataset.id === id);
    }
  }

  /** @param {string} id put the focus on the row of a store, if it is here */
  focus(id) {
    const row = [...this.parts.table.querySelectorAll("tbody tr")].find(
      (each) => /** @type {HTMLElement} */ (each).dataset.id === id,
    );
    row?.querySelector("a")?.focus();
  }

  /** @param {{near: boolean}} view @returns {string[]} what can be a column */
  #known(view) {
    return [...this.members, ...this.attributes.keys(), ...(view.near ? ["distance"] : [])];
  }

  /** @param {{fields: string[], near: boolean}} view @returns {string[]} */
  #columns(view) {
    const isWanted = (/** @type {string} */ name) =>
      view.fields.includes(name) || (name.startsWith(PREFIX) && view.fields.includes("attributes"));
    if (view.fields.length) return this.#known(view).filter(isWanted);
    return [...DEFAULT_COLUMNS.slice(0, 1), ...(view.near ? ["distance"] : []), ...DEFAULT_COLUMNS.slice(1)];
  }

  /** @param {Page} page @param {{fields: string[], query: string, near: boolean}} view */
  #drawTable(page, view) {
    this.words = wordsOf(view.query);
    const columns = this.#columns(view);
    const head = element("tr", {}, ...columns.map((name) => this.#heading(name, page)));
    const rows = page.data.map((store) => this.#row(store, columns));
    this.parts.table.replaceChildren(
      element("caption", { class: "hidden" }, TEXT.tableLabel),
      element("thead", {}, head),
      element("tbody", {}, ...rows),
    );
  }

  /** @param {string} name @param {Page} page */
  #heading(name, page) {
    const label = fieldLabel(name);
    const attribute = this.attributes.get(name);
    const isNumber = NUMBERS.includes(name) || attribute?.kind === "number";
    if (attribute && !attribute.isSorted) return element("th", { scope: "col", class: "plain" }, label);
    const order = page.sort_by === name ? page.sort_order : "";
    const sort = order === "asc" ? "ascending" : order === "desc" ? "descending" : "none";
    const next = order === "asc" ? { sort_by: name, sort_order: "desc" } : { sort_by: name, sort_order: "" };
    const values = order === "desc" ? { sort_by: "", sort_order: "" } : next;
    const button = element(
      "button",
      { type: "button", title: TEXT.sortBy(label), onclick: () => this.actions.onChange(values) },
      label,
      element("span", { class: "arrow", "aria-hidden": "true" }, order === "asc" ? "↑" : order === "desc" ? "↓" : ""),
    );
    return element("th", { scope: "col", "aria-sort": sort, class: isNumber ? "number" : null }, button);
  }

  /** @param {Store} store @param {string[]} columns */
  #row(store, columns) {
    const link = columns.includes("name") ? "name" : columns[0];
    const cells = columns.map((name) => this.#cell(store, name, name === link));
    const onclick = (/** @type {MouseEvent} */ event) => {
      const isLink = /** @type {HTMLElement} */ (event.target).closest("a") !== null;
      if (isLink && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
      if (!isLink && String(getSelection())) return;
      event.preventDefault();
      this.actions.onOpen(store.store_id);
    };
    return element("tr", { "data-id": store.store_id, onclick }, ...cells);
  }

  /** @param {Store} store @param {string} name @param {boolean} isLink */
  #cell(store, name, isLink) {
    const value = valueOf(store, name);
    const has = value !== null && value !== undefined && value !== "";
    const own = this.attributes.get(name);
    const isNumber = NUMBERS.includes(name) || own?.kind === "number";
    const attributes = { class: [name, isNumber ? "number" : ""].join(" ").trim() };
    if (name === "is_open") return element("td", attributes, has ? statusBadge(value) : TEXT.none);
    if (name === "company_id" && has) {
      const parts = marked(this.actions.companyName(value), this.words);
      return element("td", { ...attributes, "data-company": value }, ...parts);
    }
    const text = own ? formatAttribute(own.kind, value) : formatValue(name, value);
    const parts = has && SEARCHED.includes(name) ? marked(text, this.words) : [text];
    if (isLink) return element("td", attributes, element("a", { href: this.actions.linkTo(store.store_id) }, ...parts));
    return element("td", has ? attributes : { class: `${attributes.class} none` }, ...parts);
  }

  /** @param {Page} page */
  #drawEmpty(page) {
    const past = page.total_count > 0;
    const action = past
      ? element("button", { type: "button", onclick: () => this.actions.onChange({ page_num: "" }) }, TEXT.firstPage)
      : element("button", { type: "button", onclick: () => this.actions.onChange({ clear: "" }) }, TEXT.clearAll);
    this.parts.empty.hidden = page.data.length > 0;
    this.parts.empty.replaceChildren(
      element("h2", {}, past ? TEXT.emptyPage : TEXT.emptyTitle),
      element("p", {}, past ? "" : TEXT.emptyHint),
      action,
    );
    /** @type {HTMLElement} */ (this.parts.table.parentElement).hidden = page.data.length === 0;
  }

  /** @param {Page} page */
  #drawPager(page) {
    const { page_num: current, num_pages: pages, limit, total_count: total } = page;
    const first = (current - 1) * limit + 1;
    const move = (/** @type {number} */ to, /** @type {string} */ label, /** @type {string} */ sign) =>
      element(
        "button",
        {
          type: "button",
          title: label,
          "aria-label": label,
          disabled: to < 1 || to > pages,
          onclick: () => this.actions.onChange({ page_num: to === 1 ? "" : String(to) }),
        },
        sign,
      );
    const choices = [...new Set([...ROW_CHOICES, limit])].sort((one, other) => one - other);
    const onchange = (/** @type {Event} */ event) => {
      const value = /** @type {HTMLSelectElement} */ (event.target).value;
      this.actions.onChange({ limit: value === String(ROWS) ? "" : value });
    };
    const select = element(
      "select",
      { onchange },
      ...choices.map((each) => element("option", { value: String(each), selected: each === limit }, formatNumber(each))),
    );
    const range = page.data.length ? TEXT.range(first, first + page.data.length - 1, total) : "";
    this.parts.pager.replaceChildren(
      element("span", { class: "range" }, range),
      element("label", { class: "rows" }, `${TEXT.perPage} `, select),
      element("span", { class: "pages" }, pages > 1 ? TEXT.page(current, pages) : ""),
      move(Math.min(current - 1, Math.max(pages, 1)), TEXT.previous, "‹"),
      move(current + 1, TEXT.next, "›"),
    );
  }

  /** The order where there is no head of the table, on a phone. @param {Page} page @param {{near: boolean}} view */
  #drawOrder(page, view) {
    const current = `${page.sort_by} ${page.sort_order}`;
    const names = [...(view.near ? ["distance"] : []), ...ORDERS];
    const options = names.flatMap((name) => [
      { value: `${name} asc`, text: TEXT.ascending(fieldLabel(name)) },
      { value: `${name} desc`, text: TEXT.descending(fieldLabel(name)) },
    ]);
    if (!options.some(({ value }) => value === current)) options.unshift({ value: current, text: fieldLabel(page.sort_by) });
    this.parts.order.replaceChildren(
      ...options.map(({ value, text }) => element("option", { value, selected: value === current }, text)),
    );
  }

  /** @param {{fields: string[], near: boolean}} view */
  #drawColumns(view) {
    const shown = this.#columns(view);
    const onchange = () => {
      const boxes = [...this.parts.columns.querySelectorAll("input")];
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      if (chosen.length) this.actions.onChange({ fields: chosen.join(",") });
    };
    const boxes = this.#known(view).map((name) =>
      element(
        "label",
        { class: "choice" },
        element("input", { type: "checkbox", value: name, checked: shown.includes(name), onchange }),
        element("span", { class: "label" }, fieldLabel(name)),
      ),
    );
    const reset = { type: "button", class: "quiet", disabled: !view.fields.length };
    const onclick = () => this.actions.onChange({ fields: "" });
    const focused = /** @type {HTMLInputElement | null} */ (this.parts.columns.querySelector("input:focus"))?.value;
    this.parts.columns.replaceChildren(
      element("div", { class: "choices" }, ...boxes),
      element("button", { ...reset, onclick }, TEXT.defaultColumns),
    );
    if (focused) {
      [...this.parts.columns.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
    }
  }
}

/** @param {HTMLElement} target @param {number} total say how many there are */
export function sayTotal(target, total) {
  say(target, TEXT.found(total));
}
