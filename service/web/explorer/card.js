// The card of one store: what a visitor wants to know first, then what the data has besides.

import { ApiError } from "./api.js";
import { valueOf } from "./attributes.js";
import { attributeNode, badge, callUrl, copy, element, siteLink } from "./dom.js";
import { directionsUrl, pointOf } from "./language.js";
import { LANGUAGE, TEXT, addressLines, fieldLabel, formatAttribute, formatDistance, formatValue } from "./strings.js";

const DOMAIN = /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i;
// What the card shows above the details.
const ABOVE = ["name", "is_open", "address_1", "address_2", "city", "province", "postal_code", "country", "phone_number", "distance", "attributes"];

/**
 * @typedef {import("./api.js").Api} Api
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {{linkTo: (id: string) => string, onClose: () => void, onNear: (point: string) => void,
 *   onCompany: (id: string) => void, onShow: (point: [number, number]) => void}} CardActions
 */

export class Card {
  /**
   * @param {HTMLElement} root
   * @param {Api} api
   * @param {string[]} images the origins whose images may be shown
   * @param {CardActions} actions
   */
  constructor(root, api, images, actions) {
    this.root = root;
    this.api = api;
    this.images = images;
    this.actions = actions;
    this.id = "";
    this.abort = new AbortController();
    /** @type {Attribute[]} */
    this.attributes = [];
    /** The store that is shown. @type {Record<string, any>} */
    this.store = {};
    this.own = element("div");
    this.away = element("span", { class: "away" });
    this.status = element("span");
    this.week = element("div");
    this.site = element("span");
  }

  /** @param {Attribute[]} attributes those that stores have, which may come after a store */
  setAttributes(attributes) {
    this.attributes = attributes.filter(({ show }) => show !== "never");
    this.#fillOwn();
    this.#addHours();
  }

  /** @param {boolean} isLow on a phone, whether it is a sheet below the map or the list */
  lower(isLow) {
    this.root.classList.toggle("low", isLow);
    const button = this.root.querySelector(".fold");
    button?.setAttribute("aria-expanded", String(!isLow));
    button?.setAttribute("aria-label", isLow ? TEXT.raise : TEXT.lower);
    if (isLow) this.root.scrollTop = 0;
  }

  /** @returns {string} what the store is called */
  get title() {
    return this.store.name || this.store.address_1 || this.store.store_id;
  }

  /** @returns {number} on a phone, how high the sheet is, in pixels; else 0 */
  get height() {
    return this.root.classList.contains("low") && getComputedStyle(this.root).position === "fixed" ? this.root.offsetHeight : 0;
  }

  /**
   * Open the card of a store.
   * @param {string} id
   * @returns {Promise<Record<string, any> | null>} the store; null if there is none
   */
  async open(id) {
    this.abort.abort();
    this.abort = new AbortController();
    this.id = id;
    this.root.hidden = false;
    this.#draw(element("p", { class: "hint" }, TEXT.loading));
    try {
      const { body: store } = await this.api.get(`stores/${encodeURIComponent(id)}`, {}, this.abort.signal);
      this.#drawStore(store);
      this.#addCompany(store);
      return store;
    } catch (error) {
      if (!(error instanceof ApiError)) return null;
      if (error.kind === "key") throw error;
      const text = error.kind === "missing" ? TEXT.gone : error.kind === "offline" ? TEXT.offline : TEXT.failed(error.status);
      this.#draw(element("p", { class: "hint" }, text));
      return null;
    }
  }

  close() {
    this.abort.abort();
    this.id = "";
    this.root.hidden = true;
    this.root.replaceChildren();
  }

  /** @param {...Node} children */
  #draw(...children) {
    const low = this.root.classList.contains("low");
    const close = { type: "button", class: "close", title: TEXT.close, "aria-label": TEXT.close, onclick: this.actions.onClose };
    const fold = { type: "button", class: "fold", onclick: () => this.lower(!this.root.classList.contains("low")) };
    this.root.replaceChildren(element("button", fold), element("button", close, "×"), ...children);
    this.root.scrollTop = 0;
    this.lower(low);
  }

  /** @param {number | null | undefined} distance from the point of the list, in metres, if it has one */
  setDistance(distance) {
    this.away.textContent = typeof distance === "number" ? formatDistance(distance) : "";
  }

  /** @param {Record<string, any>} store */
  #drawStore(store) {
    this.store = store;
    const title = element("h2", { tabindex: "-1" }, this.title);
    this.company = element("p", { class: "company" });
    this.site.replaceChildren();
    this.status.replaceChildren(badge(store.is_open ?? null, formatValue("is_open", store.is_open)));
    this.week.replaceChildren();
    this.#fillOwn();
    this.#addHours();
    this.#draw(
      title,
      element("div", { class: "status" }, this.status, this.away),
      this.company,
      this.week,
      element("address", {}, ...addressLines(store).flatMap((line, index) => (index ? [element("br"), line] : [line]))),
      this.#links(store),
      this.own,
      this.#buttons(store),
      this.#details(store),
    );
    title.focus({ preventScroll: true });
  }

  /** @param {Record<string, any>} store the way there, a call, the website */
  #links(store) {
    const phone = store.phone_number;
    return element(
      "div",
      { class: "buttons" },
      siteLink(directionsUrl(store, addressLines(store).join(", ")), TEXT.directions, { class: "button primary" }),
      phone && element("a", { href: callUrl(phone), class: "button" }, `${TEXT.call} ${phone}`),
      this.site,
    );
  }

  /** @param {string} url */
  #setSite(url) {
    if (!this.site.childElementCount) this.site.replaceChildren(siteLink(url, TEXT.website, { class: "button", title: url }));
  }

  /** Show the attributes that have a value, by their groups. */
  #fillOwn() {
    const shown = this.attributes.filter(({ name, kind }) => kind !== "hours" && (valueOf(this.store, name) ?? "") !== "");
    const site = shown.find(({ kind }) => kind === "url");
    if (site) this.#setSite(valueOf(this.store, site.name));
    const groups = [...new Set(shown.map(({ group }) => group))].sort((one, other) => Number(one !== "") - Number(other !== ""));
    this.own.replaceChildren(
      ...groups.flatMap((group) => [
        ...(group ? [element("h3", {}, group)] : []),
        element("dl", {}, ...shown.filter((each) => each.group === group).flatMap((each) => this.#attribute(each))),
      ]),
    );
  }

  /** Where stores have hours, show whether this one is open now, and its week, or that they are not known. */
  async #addHours() {
    const { store } = this;
    const attribute = this.attributes.find(({ kind }) => kind === "hours");
    if (!attribute || store.is_open === false) return;
    const hours = valueOf(store, attribute.name);
    const parts = hours && (await import("./hours.js")).openingParts(hours, new Date(), LANGUAGE);
    if (store !== this.store) return;
    this.status.replaceChildren(parts ? parts.badge : badge(null, TEXT.hoursUnknown));
    if (parts) this.week.replaceChildren(parts.week);
  }

  /** @param {Attribute} attribute @returns {HTMLElement[]} */
  #attribute({ name, kind }) {
    const label = fieldLabel(name);
    const value = valueOf(this.store, name);
    const node = attributeNode(kind, value, formatAttribute(kind, value), label, this.images);
    const isPicture = node instanceof HTMLImageElement;
    return [element("dt", { class: isPicture ? "hidden" : null }, label), element("dd", { class: isPicture ? "picture" : null }, node)];
  }

  /** @param {Record<string, any>} store identifiers, dates, parents, what can be copied */
  #details(store) {
    const facts = Object.keys(store)
      .filter((name) => !ABOVE.includes(name) && (store[name] ?? "") !== "")
      .flatMap((name) => {
        const text = formatValue(name, store[name]);
        return [element("dt", {}, fieldLabel(name)), element("dd", { title: text === store[name] ? null : store[name] }, text)];
      });
    const copying = (/** @type {string} */ label, /** @type {string} */ text) =>
      element("button", { type: "button", onclick: (/** @type {any} */ event) => copy(event.currentTarget, text, TEXT.copied) }, label);
    const point = pointOf(store) && `${store.latitude.trim()},${store.longitude.trim()}`;
    return element(
      "details",
      { class: "details" },
      element("summary", {}, TEXT.details),
      element("dl", {}, ...facts),
      element("div", { class: "buttons" }, copying(TEXT.copyId, store.store_id), point && copying(TEXT.copyPoint, point)),
    );
  }

  /** @param {Record<string, any>} store */
  #buttons(store) {
    const point = pointOf(store);
    const written = point === null ? "" : `${store.latitude.trim()},${store.longitude.trim()}`;
    const button = (/** @type {string} */ label, /** @type {(event: any) => void} */ onclick) =>
      element("button", { type: "button", onclick }, label);
    return element(
      "div",
      { class: "buttons small" },
      point && button(TEXT.onMap, () => this.actions.onShow(point)),
      point && button(TEXT.nearThis, () => this.actions.onNear(written)),
      button(TEXT.copyLink, (event) => copy(event.currentTarget, this.actions.linkTo(store.store_id), TEXT.copied)),
      point ? null : element("p", { class: "hint" }, TEXT.notLocated),
    );
  }

  /** @param {Record<string, any>} store */
  async #addCompany(store) {
    if (!store.company_id) return;
    try {
      const { body } = await this.api.get(`companies/${encodeURIComponent(store.company_id)}`, {}, this.abort.signal);
      const onclick = () => this.actions.onCompany(store.company_id);
      this.company?.replaceChildren(element("button", { type: "button", class: "link", onclick }, body.name || body.company_id));
      if (DOMAIN.test(body.domain ?? "")) this.#setSite(`https://${body.domain}`);
    } catch {
      // The card is complete without it.
    }
  }
}
