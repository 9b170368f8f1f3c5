// <store-locator>: search, list, card and map of stores in any web page.

import { Api, ApiError, minuteOf } from "./api.js";
import { element, locate, say } from "./dom.js";
import { texts } from "./en.js";
import { languageOf, pointOf, preferred } from "./language.js";
import { Search } from "./search.js";
import { SHEET, UNKNOWN, failureText, frameOf, itemOf, showCard, showItems, showQuery } from "./view.js";

/** Attributes of the element, and the parameters that they set. */
export const PARAMETERS = { country: "country", company: "company_id", query: "q", near: "near", radius: "radius" };
const OTHERS = ["key", "src", "unit", "lang", "limit", "map", "show", "directions", "store-url", "json-ld"];
/** What a public key allows. */
const [MOST_LIMIT, MOST_RECORDS] = [50, 1000];
const LIMIT = 20;
/** From this width on there is a map beside the list, in pixels. */
const WIDE = 600;

/**
 * @typedef {Record<string, any>} Store
 * @typedef {import("./language.js").Language} Language
 */

/** What an element shows until one of its attributes changes. */
class Locator {
  /** @param {StoreLocator} host @param {Language} language */
  constructor(host, language) {
    const api = new Api(() => "");
    if (host.text("src")) api.base = new URL(host.text("src").replace(/\/?$/, "/"), document.baseURI);
    if (host.text("key")) api.parameters.key = host.text("key");
    api.credentials = "omit";
    api.mostStores = MOST_LIMIT;
    this.host = host;
    this.api = api;
    this.language = language;
    /** @type {Promise<import("./view.js").Service>} */
    this.service = api.get("embed/service.json").then(({ body }) => body, () => UNKNOWN);
    this.abort = new AbortController();
    this.query = new URLSearchParams();
    for (const [attribute, name] of Object.entries(PARAMETERS)) for (const each of host.words(attribute)) this.query.append(name, each);
    /** What the point that stores are near is called. */
    this.place = host.text("near");
    this.limit = Math.min(Math.max(Math.trunc(Number(host.text("limit"))) || LIMIT, 1), MOST_LIMIT);
    /** The last that is listed; 0 before the first answer. */
    this.page = 0;
    /** @type {Store[]} */
    this.stores = [];
    this.total = 0;
    /** The store whose card is open; the one that was opened last, whose answer may be on its way. */
    this.id = "";
    this.opening = "";
    /** @type {import("./view.js").Shown} */
    this.shown = { language, service: UNKNOWN, hours: "", openingParts: null, host };
    this.data = element("script", { type: "application/ld+json" });
    /** @type {Promise<import("./map.js").StoreMap> | null} */
    this.map = null;
    /** What the map shows: another page of the list does not move it. */
    this.mapped = "nothing yet";
    const here = (/** @type {string} */ near) => this.set({ near, q: "" }, { place: language.TEXT.here });
    this.parts = frameOf(language, {
      onLocate: () => locate(language.TEXT, (text) => say(this.parts.status, text), here),
      onOpenNow: () => this.set({ open_at: this.get("open_at") ? "" : minuteOf(new Date()) }),
      onRadius: (radius) => this.set({ radius }),
      onForget: () => this.set({ near: "" }),
      onMore: () => this.ask(this.page + 1),
      onClose: () => this.close(),
    });
    const { form, input, options, suggested } = this.parts;
    this.search = new Search({ form, input, options, status: suggested }, api, this, language, () => []);
    this.search.showState();
    api.addEventListener("waiting", (event) => {
      const { status, seconds } = /** @type {CustomEvent} */ (event).detail;
      say(this.parts.status, status === 429 ? language.TEXT.waiting(seconds) : language.TEXT.unavailable(seconds));
    });
  }

  /** @param {string} name @returns {string} the value of a parameter, empty if it is not set */
  get(name) {
    return this.query.get(name) ?? "";
  }

  /** @param {string} name @returns {string[]} its values */
  all(name) {
    return this.query.getAll(name);
  }

  /**
   * Set parameters, and ask for the stores; empty values remove them.
   * @param {Record<string, string>} values
   * @param {{place?: string}} [options] the name of the place that `near` is
   */
  set(values, { place = "" } = {}) {
    for (const [name, value] of Object.entries(values)) value ? this.query.set(name, value) : this.query.delete(name);
    if (values.near !== undefined) this.place = place;
    this.ask();
  }

  /** Ask for a page of stores, and show it unless something else is asked before the answer. */
  async ask(page = 1) {
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    const query = new URLSearchParams(this.query);
    query.set("limit", String(this.limit));
    if (page > 1) query.set("page_num", String(page));
    if (!this.get("near")) {
      query.set("sort_by", "name");
      query.delete("radius"); // it is that of the next place
    }
    this.search.showState();
    this.parts.side.setAttribute("aria-busy", "true");
    if (!this.stores.length) say(this.parts.status, this.language.TEXT.loading);
    try {
      const [{ body }, service] = await Promise.all([this.api.get("stores", query, signal), this.service]);
      const hours = service.attributes.find(({ kind }) => kind === "hours")?.name ?? "";
      const { openingParts } = hours ? await import("./hours.js") : { openingParts: null };
      if (signal.aborted) return;
      Object.assign(this.shown, { service, hours, openingParts });
      this.#show(body, page);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  /** @param {any} body a page of stores @param {number} page */
  #show({ data, total_count: total }, page) {
    const { parts, language: { TEXT } } = this;
    this.close();
    this.page = page;
    this.total = total;
    this.stores = page > 1 ? [...this.stores, ...data] : data;
    showItems(parts, data.map((/** @type {Store} */ store) => itemOf(store, this.shown, () => this.open(store))), page > 1);
    parts.more.hidden = this.stores.length >= total || this.limit * (page + 1) > MOST_RECORDS;
    parts.empty.hidden = total > 0;
    const isNearest = total > 1 && this.get("near") && !this.get("radius");
    say(parts.status, isNearest ? TEXT.nearestFirst(total) : TEXT.found(total));
    showQuery(parts, this.shown, this.query, this.place);
    if (total === 0) this.#offer();
    this.#describe();
    this.host.tell("stores-changed", { stores: this.stores, total });
    this.showMap();
  }

  /** Give the list to search engines. */
  async #describe() {
    if (this.host.text("json-ld") === "off") return;
    const { signal } = this.abort;
    const { jsonLd } = await import("./json-ld.js");
    if (signal.aborted) return;
    this.data.replaceChildren(jsonLd(this.stores, this.shown));
    this.host.append(this.data);
  }

  /** Offer what may be meant by words that no store has. */
  async #offer() {
    const { signal } = this.abort;
    const offered = await this.search.offer();
    if (offered && !signal.aborted) this.parts.offers.replaceChildren(offered);
  }

  /** @param {unknown} error say why there are no stores */
  #fail(error) {
    const { parts, language: { TEXT } } = this;
    const known = error instanceof ApiError ? error : new ApiError("failed");
    if (known !== error) console.error(error);
    parts.side.removeAttribute("aria-busy");
    say(parts.status, failureText(known, TEXT));
    parts.offers.replaceChildren(element("button", { type: "button", onclick: () => this.ask() }, TEXT.retry));
    if (known.kind === "offline") addEventListener("online", () => this.ask(), { once: true, signal: this.abort.signal });
  }

  /** @param {Store} store open the card of a store */
  async open(store) {
    this.id = this.opening = store.store_id;
    showCard(this.parts, store, this.shown, () => this.close());
    this.host.tell("store-selected", { store });
    (await this.map)?.select(pointOf(store), { fly: true });
  }

  /** @param {string} id open the card of a store of the map, which the list may not have */
  async openById(id) {
    const listed = this.stores.find((each) => each.store_id === id);
    this.opening = id;
    try {
      const store = listed ?? (await this.api.get(`stores/${encodeURIComponent(id)}`, {}, this.abort.signal)).body;
      if (id === this.opening) this.open(store);
    } catch (error) {
      if (error instanceof ApiError) this.#fail(error);
    }
  }

  /** Close the card; the focus is where it was opened. */
  async close() {
    if (!this.id) return;
    const { parts } = this;
    const index = this.stores.findIndex((each) => each.store_id === this.id);
    const hadFocus = parts.card.matches(":focus-within");
    this.id = "";
    parts.card.hidden = true;
    parts.side.classList.remove("with-card");
    if (hadFocus) (parts.list.children[index]?.querySelector("button") ?? parts.input).focus();
    (await this.map)?.select(null);
  }

  /** Show the map where it is wanted and has room; it is loaded then. */
  async showMap() {
    const wanted = this.host.text("map") || "auto";
    const isShown = wanted === "on" || (wanted === "auto" && this.host.clientWidth >= WIDE);
    this.parts.root.classList.toggle("with-map", isShown);
    if (!isShown || !this.page) return;
    this.map ??= import("./locator-map.js").then(({ mapIn }) => mapIn(this.parts.map, this.api, this.shown, (id) => this.openById(id)));
    try {
      const [map, conditions] = [await this.map, this.query.toString()];
      if (conditions === this.mapped) return;
      this.mapped = conditions;
      await map.show(new URLSearchParams(conditions), this.total, true);
    } catch {
      this.map = null;
      this.parts.map.replaceChildren(element("p", {}, this.language.TEXT.noMap));
    }
  }

  async end() {
    this.abort.abort();
    this.data.remove();
    (await this.map)?.remove();
  }
}

export class StoreLocator extends HTMLElement {
  static observedAttributes = [...Object.keys(PARAMETERS), ...OTHERS];

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [SHEET];
    this.isStarting = false;
    /** Names the latest beginning. */
    this.begun = {};
    /** @type {Locator | null} */
    this.locator = null;
    new ResizeObserver(() => this.locator?.showMap()).observe(this);
  }

  connectedCallback() {
    this.#restart();
  }

  disconnectedCallback() {
    this.#restart();
  }

  /** @param {string} _ @param {string | null} before @param {string | null} after */
  attributeChangedCallback(_, before, after) {
    if (before !== after) this.#restart();
  }

  /** @param {string} name @returns {string} the value of an attribute, empty if it has none */
  text(name) {
    return this.getAttribute(name)?.trim() ?? "";
  }

  /** @param {string} name @returns {string[]} of a list each of its parts, of another attribute its one value */
  words(name) {
    const text = this.text(name);
    const isList = name === "show" || (name === "country" && /^\w\w(\s+\w\w)*$/.test(text));
    const parts = isList ? text.split(/[\s,]+/) : name === "country" ? text.split(/\s*,\s*/) : [text];
    return parts.filter(Boolean);
  }

  /** @param {string} type @param {unknown} detail */
  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
  }

  /** Begin afresh, once for all that changes at a time. */
  async #restart() {
    if (this.isStarting) return;
    this.isStarting = true;
    await null;
    this.isStarting = false;
    this.locator?.end();
    this.locator = null;
    const begun = (this.begun = {});
    if (!this.isConnected) return;
    const language = await this.#language();
    if (begun !== this.begun || !this.isConnected) return;
    this.locator = new Locator(this, language);
    /** @type {ShadowRoot} */ (this.shadowRoot).replaceChildren(this.locator.parts.root);
    this.locator.ask();
  }

  /** @returns {Promise<Language>} the first of those of the element, the page and the visitor that there is */
  async #language() {
    const own = /** @type {HTMLElement | null} */ (this.closest("[lang]"))?.lang ?? "";
    const { code, locale } = preferred([own, ...navigator.languages]);
    const unit = this.getAttribute("unit");
    try {
      return languageOf(code, code === "en" ? texts : (await import(`./${code}.js`)).texts, locale, unit);
    } catch {
      return languageOf("en", texts, "en", unit);
    }
  }
}

customElements.define("store-locator", StoreLocator);
