// The table of stores: one line a store, with the columns that have values.

import { PREFIX, valueOf } from "./attributes.js";
import { badge, element } from "./dom.js";
import { drawColumns, drawOrder, drawPager } from "./pager.js";
import { TEXT, fieldLabel, formatAttribute, formatDay, formatValue } from "./strings.js";
import { marked, wordsOf } from "./words.js";

const DEFAULT_COLUMNS = ["name", "address_1", "city", "province", "country"];
const NUMBERS = ["latitude", "longitude", "distance"];
const SEARCHED = ["store_id", "name", "address_1", "address_2", "city", "province", "postal_code", "company_id"];
// How much of the width a column has, beside one.
const WIDTHS = { name: 2.6, address_1: 1.6, city: 1.2, distance: 1.25 };
const NAME_OF_MANY = 2.1; // beside more columns than are usual
const SKELETONS = 12;
const INSTANTS = ["created_at", "updated_at"];
const LONG_DATE = new Date(2000, 8, 30);

/**
 * @typedef {Record<string, any>} Store
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {{limit: number, num_pages: number, page_num: number, sort_order: string, sort_by: string,
 *   total_count: number, data: Store[]}} Page
 * @typedef {{fields: string[], query: string, near: boolean}} View
 * @typedef {{companyName: (id: string) => string, linkTo: (id: string) => string, onOpen: (id: string) => void,
 *   onHover: (store: Store | null) => void, onChange: (values: Record<string, string>) => void}} ListActions
 */

export class List {
  /**
   * @param {{table: HTMLElement, pager: HTMLElement, columns: HTMLElement, order: HTMLSelectElement}} parts
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
    parts.columns.parentElement?.addEventListener("toggle", () => this.#drawColumns());
    parts.table.addEventListener("click", (event) => this.#clicked(event));
    parts.table.addEventListener("mouseover", (event) => this.actions.onHover(this.#storeOf(event)));
    parts.table.addEventListener("mouseleave", () => this.actions.onHover(null));
    /** @type {Page | null} */
    this.page = null;
    /** @type {string[]} */
    this.columns = [];
    /** The store whose card is open. */
    this.selected = "";
    /** The words that are marked. */
    this.words = wordsOf("");
  }

  /** @param {Page} page @param {View} view show a page, from its top */
  show(page, view) {
    const isPaged = this.page !== null && this.page.page_num !== page.page_num;
    this.page = page;
    this.view = view;
    this.#scroller.scrollTop = 0; // before there are rows, whose layout it would force
    this.#draw();
    if (isPaged) this.#scroller.focus({ preventScroll: true });
  }

  /** @returns {HTMLElement} what scrolls */
  get #scroller() {
    return /** @type {HTMLElement} */ (this.parts.table.parentElement);
  }

  #draw() {
    if (this.page === null || this.view === undefined) return;
    const { page, view } = this;
    this.columns = this.#columns(view);
    this.#drawTable(page, this.columns);
    this.#scroller.hidden = page.data.length === 0;
    drawPager(this.parts.pager, page, this.actions.onChange);
    drawOrder(this.parts.order, page, view.near);
    this.#drawColumns();
  }

  /** Draw the choice of columns, while its menu is open. */
  #drawColumns() {
    const { columns: root } = this.parts;
    if (!this.view || !(/** @type {HTMLDetailsElement} */ (root.parentElement).open)) return;
    drawColumns(root, this.#known(this.view), this.columns, this.view.fields.length > 0, this.actions.onChange);
  }

  /** Show that rows are on their way, before the first. */
  showSkeleton() {
    if (this.page !== null) return;
    const row = () => element("tr", { class: "skeleton", "aria-hidden": "true" }, element("td", {}, element("span")));
    this.parts.table.replaceChildren(element("tbody", {}, ...Array.from({ length: SKELETONS }, row)));
  }

  /** @param {Attribute[]} attributes those that stores have, which come after the rows */
  setAttributes(attributes) {
    this.attributes = new Map(attributes.filter(({ kind, show }) => kind !== "hours" && show !== "never").map((each) => [each.name, each]));
    const focused = this.#rows.find((row) => row.contains(document.activeElement))?.dataset.id;
    this.#draw();
    this.select(this.selected);
    if (focused) this.focus(focused);
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
    this.selected = id;
    for (const row of this.#rows) row.classList.toggle("selected", id !== "" && row.dataset.id === id);
  }

  /** @param {string} id show the row of the store that is pointed at on the map; none for "" */
  point(id) {
    for (const row of this.#rows) row.classList.toggle("pointed", id !== "" && row.dataset.id === id);
  }

  /** @param {string} id put the focus on the row of a store, if it is here; the list stays where it is */
  focus(id) {
    this.#rows.find((row) => row.dataset.id === id)?.querySelector("a")?.focus({ preventScroll: true });
  }

  /** @returns {HTMLElement[]} */
  get #rows() {
    return [.../** @type {NodeListOf<HTMLElement>} */ (this.parts.table.querySelectorAll("tbody tr[data-id]"))];
  }

  /** @param {string | undefined} id @returns {Store | undefined} that of a row */
  rowOf(id) {
    return this.page?.data.find((each) => each.store_id === id);
  }

  /** @param {Event} event @returns {Store | null} that of the row where it is */
  #storeOf({ target }) {
    const row = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (target).closest("tbody tr"));
    return this.rowOf(row?.dataset.id) ?? null;
  }

  /** @param {MouseEvent} event open a store, unless a text is being selected or a link is to be opened elsewhere */
  #clicked(event) {
    const store = this.#storeOf(event);
    const isLink = /** @type {HTMLElement} */ (event.target).closest("a") !== null;
    if (store === null || (isLink ? event.ctrlKey || event.metaKey || event.shiftKey : String(getSelection()))) return;
    event.preventDefault();
    this.actions.onOpen(store.store_id);
  }

  /** @param {View} view @returns {string[]} what can be a column */
  #known(view) {
    return [...this.members, ...this.attributes.keys(), ...(view.near ? ["distance"] : [])];
  }

  /** @param {View} view @returns {string[]} those that are chosen, else the usual ones that have a value here */
  #columns(view) {
    const isWanted = (/** @type {string} */ name) =>
      view.fields.includes(name) || (name.startsWith(PREFIX) && view.fields.includes("attributes"));
    if (view.fields.length) return this.#known(view).filter(isWanted);
    const own = [...this.attributes.values()].filter(({ show }) => show === "list").map(({ name }) => name);
    const [first, ...others] = [...DEFAULT_COLUMNS, ...own];
    const sorted = this.#known(view).filter((name) => name === this.page?.sort_by && ![first, ...others].includes(name));
    const hasValue = (/** @type {string} */ name) => this.page?.data.some((store) => (valueOf(store, name) ?? "") !== "");
    return [...new Set([first, ...(view.near ? ["distance"] : []), ...[...sorted, ...others].filter(hasValue)])];
  }

  /** @param {Page} page @param {string[]} columns */
  #drawTable(page, columns) {
    this.words = wordsOf(this.view?.query ?? "");
    const isMany = columns.length > DEFAULT_COLUMNS.length + 1;
    /** @type {Record<string, number>} */
    const usual = isMany ? { ...WIDTHS, name: NAME_OF_MANY } : WIDTHS;
    const widths = columns.map((name) => usual[name] ?? Math.min(Math.max(fieldLabel(name).length / 8, 1), 1.6));
    const whole = widths.reduce((sum, each) => sum + each, 0);
    this.parts.table.classList.toggle("usual", !this.view?.fields.length);
    this.parts.table.style.minWidth = columns.length > DEFAULT_COLUMNS.length + 2 ? `${columns.length * 120}px` : "";
    this.parts.table.replaceChildren(
      element("caption", { class: "hidden" }, TEXT.tableLabel),
      element("colgroup", {}, ...columns.map((name, at) => this.#column(name, (100 * widths[at]) / whole))),
      element("thead", {}, element("tr", {}, ...columns.map((name) => this.#heading(name, page)))),
      element("tbody", {}, ...page.data.map((store) => this.#row(store, columns))),
    );
  }

  /** @param {string} name @param {number} share of the width, in percent; a date is shown as a whole */
  #column(name, share) {
    const column = element("col", { width: `${share}%` });
    const isDate = INSTANTS.includes(name) || this.attributes.get(name)?.kind === "date";
    if (isDate) column.style.width = `calc(${formatDay(LONG_DATE).length}ch + 16px)`;
    return column;
  }

  /** @param {string} name @param {Page} page */
  #heading(name, page) {
    const label = fieldLabel(name);
    const attribute = this.attributes.get(name);
    const isNumber = NUMBERS.includes(name) || attribute?.kind === "number";
    if (attribute && !attribute.isSorted) return element("th", { scope: "col", class: "plain" }, label);
    const order = page.sort_by === name ? page.sort_order : "";
    const sort = order === "asc" ? "ascending" : order === "desc" ? "descending" : "none";
    const values = { sort_by: name, sort_order: order === "asc" ? "desc" : "" };
    const button = element(
      "button",
      { type: "button", title: TEXT.sortBy(label), onclick: () => this.actions.onChange(values) },
      element("span", { class: "label" }, label),
      element("span", { class: "arrow", "aria-hidden": "true" }, order === "asc" ? "↑" : order === "desc" ? "↓" : ""),
    );
    return element("th", { scope: "col", "aria-sort": sort, class: isNumber ? "number" : null }, button);
  }

  /** @param {Store} store @param {string[]} columns */
  #row(store, columns) {
    const link = columns.includes("name") ? "name" : columns[0];
    const cells = columns.map((name) => this.#cell(store, name, name === link, columns.includes("is_open")));
    return element("tr", { "data-id": store.store_id }, ...cells);
  }

  /** @param {Store} store @param {string} name @param {boolean} isLink @param {boolean} hasStatus whether that is a column */
  #cell(store, name, isLink, hasStatus) {
    const value = valueOf(store, name);
    const has = value !== null && value !== undefined && value !== "";
    const own = this.attributes.get(name);
    const isNumber = NUMBERS.includes(name) || own?.kind === "number";
    const kinds = [name, isNumber ? "number" : "", has || isLink ? "" : "none"].filter(Boolean).join(" ");
    const text = name === "company_id" && has ? this.actions.companyName(value) : own ? formatAttribute(own.kind, value) : formatValue(name, value);
    const attributes = { class: kinds, title: text.length > 12 ? text : null, "data-company": name === "company_id" && has ? value : null, "data-label": own && own.kind !== "url" ? fieldLabel(name) : null };
    if (name === "is_open") return element("td", attributes, has ? badge(value, text) : TEXT.none);
    const parts = has && SEARCHED.includes(name) ? marked(text, this.words) : [text];
    if (!isLink) return element("td", attributes, ...parts);
    const shown = has ? parts : [store.name || store.address_1 || store.store_id];
    const closed = store.is_open === false && !hasStatus ? badge(false, TEXT.closedForGood) : null;
    if (closed) closed.title = TEXT.closedForGood;
    const link = element("a", { href: this.actions.linkTo(store.store_id) }, ...shown);
    return element("td", attributes, element("span", { class: "line" }, link, closed));
  }
}
