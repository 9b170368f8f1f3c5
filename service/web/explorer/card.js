// The card of one store: all of its fields, its company, and what can be done with it.

import { ApiError } from "./api.js";
import { valueOf } from "./attributes.js";
import { copy, element } from "./dom.js";
import { formatAttribute, formatValue, statusBadge } from "./list.js";
import { TEXT, fieldLabel, formatDistance } from "./strings.js";

const WEB = /^https?:\/\//i;
const DOMAIN = /^(?:[a-z0-9-]+\.)+[a-z]{2,}$/i;
// What the head of the card shows already.
const IN_HEAD = ["name", "is_open", "address_1", "address_2", "city", "province", "postal_code", "country", "distance"];

/**
 * @typedef {import("./api.js").Api} Api
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {{linkTo: (id: string) => string, onClose: () => void, onNear: (point: string) => void,
 *   onCompany: (id: string) => void, onShow: (point: [number, number]) => void}} CardActions
 */

/** @param {Record<string, any>} store @returns {[number, number] | null} latitude and longitude, if it has a place */
export function pointOf(store) {
  const [latitude, longitude] = [store.latitude, store.longitude].map((text) => (text?.trim() ? Number(text) : NaN));
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? [latitude, longitude] : null;
}

export class Card {
  /** @param {HTMLElement} root @param {Api} api @param {CardActions} actions */
  constructor(root, api, actions) {
    this.root = root;
    this.api = api;
    this.actions = actions;
    this.id = "";
    this.abort = new AbortController();
    /** @type {Attribute[]} */
    this.attributes = [];
    /** The store that is shown. @type {Record<string, any>} */
    this.store = {};
    this.own = element("dl");
  }

  /** @param {Attribute[]} attributes those that stores have, which may come after a store */
  setAttributes(attributes) {
    this.attributes = attributes;
    this.#fillOwn();
  }

  /**
   * Open the card of a store.
   * @param {string} id
   * @param {number | null} distance from the point of the list, in metres
   * @returns {Promise<Record<string, any> | null>} the store; null if there is none
   */
  async open(id, distance = null) {
    this.abort.abort();
    this.abort = new AbortController();
    this.id = id;
    this.root.hidden = false;
    this.#draw(element("p", { class: "hint" }, TEXT.loading));
    try {
      const { body: store } = await this.api.get(`stores/${encodeURIComponent(id)}`, {}, this.abort.signal);
      this.#drawStore(store, distance);
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
    const close = { type: "button", class: "close", title: TEXT.close, "aria-label": TEXT.close, onclick: this.actions.onClose };
    this.root.replaceChildren(element("button", close, "×"), ...children);
    this.root.scrollTop = 0;
  }

  /** @param {Record<string, any>} store @param {number | null} distance */
  #drawStore(store, distance) {
    const title = element("h2", { tabindex: "-1" }, store.name || store.store_id);
    this.company = element("p", { class: "company" });
    this.store = store;
    this.#fillOwn();
    const town = [store.city, store.province, store.postal_code].filter(Boolean).join(", ");
    const lines = [store.address_1, store.address_2, town, store.country].filter(Boolean);
    const facts = Object.keys(store)
      .filter((name) => !IN_HEAD.includes(name) && name !== "attributes")
      .flatMap((name) => [element("dt", {}, fieldLabel(name)), this.#fact(name, store[name])]);
    this.#draw(
      element("div", { class: "status" }, statusBadge(store.is_open ?? null), distance === null ? null : element("span", { class: "away" }, formatDistance(distance))),
      title,
      this.company,
      element("address", {}, ...lines.flatMap((line, index) => (index ? [element("br"), line] : [line]))),
      this.#buttons(store),
      this.own,
      element("dl", {}, ...facts),
    );
    title.focus({ preventScroll: true });
  }

  /** Show the attributes that have a value. */
  #fillOwn() {
    const shown = this.attributes.filter(({ name }) => (valueOf(this.store, name) ?? "") !== "");
    this.own.hidden = shown.length === 0;
    this.own.replaceChildren(
      ...shown.flatMap(({ name, kind }) => [
        element("dt", {}, fieldLabel(name)),
        element("dd", {}, attributeNode(kind, valueOf(this.store, name))),
      ]),
    );
  }

  /** @param {string} name @param {any} value */
  #fact(name, value) {
    const text = formatValue(name, value);
    if (name === "phone_number" && value) {
      return element("dd", {}, element("a", { href: `tel:${value.replace(/[^+\d]/g, "")}` }, text));
    }
    return element("dd", { class: value === null || value === "" ? "none" : null, title: text === value ? null : value }, text);
  }

  /** @param {Record<string, any>} store */
  #buttons(store) {
    const point = pointOf(store);
    const written = point === null ? "" : `${store.latitude.trim()},${store.longitude.trim()}`;
    const button = (/** @type {string} */ label, /** @type {(event: any) => void} */ onclick) =>
      element("button", { type: "button", onclick }, label);
    const copying = (/** @type {string} */ label, /** @type {string} */ text) =>
      button(label, (event) => copy(event.currentTarget, text, TEXT.copied));
    return element(
      "div",
      { class: "buttons" },
      point && button(TEXT.nearThis, () => this.actions.onNear(written)),
      point && button(TEXT.onMap, () => this.actions.onShow(point)),
      copying(TEXT.copyLink, this.actions.linkTo(store.store_id)),
      copying(TEXT.copyId, store.store_id),
      point && copying(TEXT.copyPoint, written),
      point ? null : element("p", { class: "hint" }, TEXT.notLocated),
    );
  }

  /** @param {Record<string, any>} store */
  async #addCompany(store) {
    if (!store.company_id) return;
    try {
      const { body } = await this.api.get(`companies/${encodeURIComponent(store.company_id)}`, {}, this.abort.signal);
      const onclick = () => this.actions.onCompany(store.company_id);
      this.company?.replaceChildren(
        element("button", { type: "button", class: "link", onclick }, body.name || body.company_id),
        ...(DOMAIN.test(body.domain ?? "")
          ? [" · ", element("a", { href: `https://${body.domain}`, rel: "noopener noreferrer", target: "_blank" }, body.domain)]
          : [body.domain ? ` · ${body.domain}` : ""]),
      );
    } catch {
      // The card is complete without it.
    }
  }
}

/** @param {Attribute["kind"]} kind @param {any} value @returns {Node | string} */
function attributeNode(kind, value) {
  if (kind === "list") {
    return element("ul", { class: "items" }, ...value.map((/** @type {string} */ each) => element("li", {}, each)));
  }
  if (kind !== "url" || !WEB.test(value)) return formatAttribute(kind, value);
  return element("a", { href: value, rel: "noopener noreferrer", target: "_blank", title: value }, value.replace(WEB, "").replace(/\/$/, ""));
}
