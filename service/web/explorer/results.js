// What the service answers for the address: a page of stores, the counts of values, the names of companies.
//
// The page loads this module first: its first request is on its way while the others load.

import { storedKey } from "../docs/key.js";
import { Api } from "./api.js";
import { State } from "./state.js";

/** How many rows a page has unless the address says another number. */
export const ROWS = 50;
/** The filters that the first request counts, in order. */
const COUNTED = ["country", "province", "city", "company_id", "is_open"];
const MOST_NAMES = 200; // of companies, looked up for one page
const MOST_CHARACTERS = 6000; // of the address of a request
const MOST_FACETS = 5; // of a request
const MOST_VALUES = 100; // of a facet

/** @typedef {import("./menus.js").Facet} Facet */

export class Results {
  /** @param {Api} api @param {State} state */
  constructor(api, state) {
    this.api = api;
    this.state = state;
    this.abort = new AbortController();
    /** @type {Map<string, string>} names of companies by identifier */
    this.names = new Map();
    /** The version of the rows. */
    this.version = "";
    /** The answer that was requested before the page could show it. @type {Promise<import("./api.js").Answer> | null} */
    this.first = null;
  }

  /** @param {string} id @returns {string} */
  companyName(id) {
    return this.names.get(id) ?? id;
  }

  /** @returns {AbortSignal} that of a new result, which ends the requests for the one before */
  begin() {
    if (this.first) return this.abort.signal;
    this.abort.abort();
    this.abort = new AbortController();
    return this.abort.signal;
  }

  /** @param {AbortSignal} signal @returns {Promise<import("./api.js").Answer>} a page, with the counts of values */
  async page(signal) {
    const { first } = this;
    this.first = null;
    if (first) return first;
    const query = new URLSearchParams(this.state.query);
    if (!query.get("limit")) query.set("limit", String(ROWS));
    const fields = query.getAll("fields").join(",");
    if (fields) query.set("fields", `${fields},store_id`);
    query.set("facets", COUNTED.join(","));
    const answer = await this.api.get("stores", query, signal);
    this.version = answer.version;
    return answer;
  }

  /**
   * Count the values of filters, of those that are set as if they were not: what else can be chosen.
   * @param {string[]} names
   * @param {AbortSignal} signal
   * @returns {Promise<Record<string, Facet>>}
   */
  async counts(names, signal) {
    const set = names.filter((name) => this.state.all(name).length);
    const unset = names.filter((name) => !set.includes(name));
    const groups = set.map((name) => [name]);
    while (unset.length) groups.push(unset.splice(0, MOST_FACETS));
    return Object.assign({}, ...(await Promise.all(groups.map((group) => this.#counted(group, {}, signal)))));
  }

  /**
   * Count the values of filters as if these were not set.
   * @param {string[]} names
   * @param {Record<string, string[]>} conditions in place of those of the address
   * @param {AbortSignal} signal
   * @returns {Promise<Record<string, Facet>>}
   */
  async #counted(names, conditions, signal) {
    const query = new URLSearchParams(this.state.selection);
    for (const each of ["sort_by", "sort_order", ...names, ...Object.keys(conditions)]) query.delete(each);
    for (const [name, values] of Object.entries(conditions)) for (const value of values) query.append(name, value);
    query.set("limit", "1");
    query.set("fields", "store_id");
    query.set("facets", names.join(","));
    return (await this.api.get("stores", query, signal)).body.facets;
  }

  /**
   * Find values of a filter by their words, beyond those that are listed, and count them.
   * @param {string} name
   * @param {string} words
   * @returns {Promise<Facet["values"]>} none if there is no answer
   */
  async valuesOf(name, words) {
    const { signal } = this.abort;
    try {
      const [facets, named] = await Promise.all([this.#counted([name], { q: [words] }, signal), this.#named(name, words, signal)]);
      const found = facets[name].values.map(({ value }) => value).filter((value) => value !== null);
      const [values] = inParts([...new Set([...named, ...found])].slice(0, MOST_VALUES), MOST_CHARACTERS);
      if (!values) return [];
      const counted = await this.#counted([name], { [name]: values }, signal); // words may be in other fields, too
      if (name === "company_id") await this.addNames({ data: [], facets: counted }, signal);
      return counted[name].values;
    } catch {
      return []; // those that are listed are there all the same
    }
  }

  /** @param {string} name @param {string} words @param {AbortSignal} signal @returns {Promise<string[]>} values that have their words as a name */
  async #named(name, words, signal) {
    if (name !== "city" && name !== "company_id") return [];
    const [path, query] = name === "city" ? ["places", { limit: "50" }] : ["companies", { limit: "50", fields: name }];
    const { body } = await this.api.get(path, { q: words, ...query }, signal);
    return body.data.filter((/** @type {any} */ { kind = name }) => kind === name).map((/** @type {any} */ each) => each[name]);
  }

  /**
   * Learn the names of the companies of a page and of its counts.
   * @param {any} page
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether there are new ones
   */
  async addNames(page, signal) {
    const facet = page.facets?.company_id?.values ?? [];
    const ids = [...page.data, ...facet.map((/** @type {any} */ each) => ({ company_id: each.value }))]
      .map((each) => each.company_id)
      .concat(this.state.all("company_id"))
      .filter((id) => id && !this.names.has(id));
    const wanted = [...new Set(ids)].slice(0, MOST_NAMES);
    if (!wanted.length) return false;
    const found = inParts(wanted, MOST_CHARACTERS).map(async (part) => {
      const query = new URLSearchParams({ fields: "company_id,name" });
      for (const id of part) query.append("company_id", id);
      return (await this.api.get("companies", query, signal)).body.data;
    });
    const companies = (await Promise.all(found)).flat();
    for (const id of wanted) this.names.set(id, id);
    for (const company of companies) this.names.set(company.company_id, company.name || company.company_id);
    return true;
  }

  /** @param {string} id @param {AbortSignal} signal @returns {Promise<Record<string, any> | undefined>} a store, if the result has it */
  async find(id, signal) {
    const query = new URLSearchParams(this.state.selection);
    const ids = query.getAll("store_id");
    if (ids.length && !ids.includes(id)) return undefined;
    query.delete("fields");
    query.set("store_id", id);
    return (await this.api.get("stores", query, signal)).body.data[0];
  }

  /** @returns {Promise<{stores: number, companies: number, hasAttributes: boolean}>} how much data is served */
  async whole() {
    const first = async (/** @type {string} */ path, /** @type {Record<string, string>} */ query) =>
      (await this.api.get(path, { limit: "1", ...query })).body;
    const [stores, companies] = await Promise.all([first("stores", {}), first("companies", { fields: "company_id" })]);
    return { stores: stores.total_count, companies: companies.total_count, hasAttributes: "attributes" in (stores.data[0] ?? {}) };
  }
}

/**
 * Return values in parts, each short enough for the address of one request; a value that is too long is left out.
 * @param {string[]} values
 * @param {number} most characters of a part
 * @returns {string[][]}
 */
function inParts(values, most) {
  /** @type {string[][]} */
  const parts = [[]];
  let length = 0;
  for (const value of values) {
    const more = new URLSearchParams({ "": value }).toString().length + 16; // of its name
    if (more > most) continue;
    length += more;
    if (length > most) {
      parts.push([]);
      length = more;
    }
    parts[parts.length - 1].push(value);
  }
  return parts.filter((part) => part.length);
}

/** What the page knows of the service. */
export const settings = document.documentElement.dataset;
export const needsKey = settings.key === "needed";
export const state = new State();
export const api = new Api(() => (needsKey ? storedKey() : ""));
export const results = new Results(api, state);

if (!needsKey || storedKey()) {
  results.first = results.page(results.abort.signal);
  results.first.catch(() => {}); // the page says why
}
