// The address of the page and its state. Nothing else reads or writes the address.
//
// The query is that of a request to /stores. The fragment has what only the page knows: the open store, the phone's tab.

import { takeKey } from "../docs/key.js";

/** What is not a condition: it is kept when all conditions are removed. */
const PRESENTATION = ["sort_by", "sort_order", "limit", "fields"];
const DEFAULT_ORDER = "name";
/** What a page of the list has and an export has not. */
const PAGING = ["limit", "page_num", "facets", "zoom"];

/** The state. Events: `query`, `view`, and `key` when a link with a key was opened. */
export class State extends EventTarget {
  constructor() {
    super();
    takeKey();
    this.query = new URLSearchParams(location.search);
    this.view = new URLSearchParams(location.hash.slice(1));
    /** The visitor's position, if `near` is that: a link does not say so to others. */
    this.here = "";
    const read = () => {
      const hasKey = takeKey();
      const before = this.query.toString();
      this.query = new URLSearchParams(location.search);
      this.view = new URLSearchParams(location.hash.slice(1));
      if (this.query.toString() !== before) this.#tell("query");
      this.#tell("view");
      if (hasKey) this.#tell("key");
    };
    if (ordered(this.query)) setTimeout(() => this.#write(true)); // the first request does not wait for it
    addEventListener("popstate", read);
    addEventListener("hashchange", read);
  }

  /** @param {string} name @returns {string} the value of a parameter, empty if it is not set */
  get(name) {
    return this.query.get(name) ?? "";
  }

  /** @param {string} name @returns {string[]} its values */
  all(name) {
    return this.query.getAll(name).filter((value) => value.trim());
  }

  /**
   * Set parameters; empty values remove them. The list is at its first page again.
   * Without a point of which they are near, stores are sorted by name unless another order is chosen.
   * @param {Record<string, string | string[]>} values
   * @param {{replace?: boolean, place?: string}} [options] whether the entry of the history is replaced; the name of the
   *   place that `near` is
   */
  set(values, { replace = false, place = "" } = {}) {
    const query = new URLSearchParams(this.query);
    if (!("page_num" in values)) query.delete("page_num");
    for (const [name, value] of Object.entries(values)) {
      query.delete(name);
      for (const each of [value].flat()) if (each !== "") query.append(name, each);
    }
    if (!query.get("near")) query.delete("radius");
    if (!query.get("near") && query.get("sort_by") === "distance") query.delete("sort_by");
    if (values.near) query.delete("sort_by"); // the nearest first
    if (!query.get("sort_by")) query.delete("sort_order");
    ordered(query);
    if (query.toString() === this.query.toString()) return;
    if (values.near !== undefined) place ? this.view.set("place", place) : this.view.delete("place");
    this.query = query;
    this.#write(replace);
    this.#tell("query");
  }

  /** @param {string} name @param {string} value remove one of the values of a parameter */
  remove(name, value) {
    this.set({ [name]: this.query.getAll(name).filter((each) => each !== value) });
  }

  /** @param {Record<string, string>} [values] set instead of all conditions @param {{place?: string}} [options] */
  clear(values = {}, options = {}) {
    const old = [...new Set(this.query.keys())].filter((name) => !PRESENTATION.includes(name));
    this.set({ ...Object.fromEntries(old.map((name) => [name, ""])), ...values }, options);
  }

  /** @param {Record<string, string>} values set what is in the fragment; empty values remove it @param {boolean} [replace] */
  show(values, replace = false) {
    const view = new URLSearchParams(this.view);
    for (const [name, value] of Object.entries(values)) value ? view.set(name, value) : view.delete(name);
    if (view.toString() === this.view.toString()) return;
    this.view = view;
    this.#write(replace);
    this.#tell("view");
  }

  /** @returns {URLSearchParams} the conditions and the order, without pages */
  get selection() {
    const query = new URLSearchParams(this.query);
    for (const name of PAGING) query.delete(name);
    return query;
  }

  /** @param {string} id @returns {string} the link that opens a store here */
  linkTo(id) {
    const view = new URLSearchParams(this.view);
    view.set("store", id);
    return `#${view}`;
  }

  /** @param {string} id @returns {string} the full address of one store */
  static permanent(id) {
    const query = new URLSearchParams({ store_id: id });
    return new URL(`${location.pathname}?${query}#${new URLSearchParams({ store: id })}`, location.href).href;
  }

  /** @param {boolean} replace */
  #write(replace) {
    const query = written(this.query);
    const view = this.view.toString();
    const address = location.pathname + (query && `?${query}`) + (view && `#${view}`);
    if (replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }

  /** @param {string} type */
  #tell(type) {
    this.dispatchEvent(new Event(type));
  }
}

/** @param {URLSearchParams} query @returns {boolean} whether the usual order was added */
function ordered(query) {
  const isMissing = !query.get("sort_by") && !query.get("near");
  if (isMissing) query.set("sort_by", DEFAULT_ORDER);
  return isMissing;
}

/** @param {URLSearchParams} query @returns {string} a query in which commas and colons can be read */
export function written(query) {
  return query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}
