// The data that is served: how much there is, of when, its attributes, and whether newer data is served.

import { attributesOf } from "./attributes.js";
import { byId, element } from "./dom.js";
import { TEXT, formatDay, formatMoment, setLabels } from "./strings.js";

const LOOK_MILLISECONDS = 60_000;

/** @typedef {{onWhole: () => void, onAttributes: (attributes: import("./attributes.js").Attribute[]) => void, onReload: () => void}} DatasetActions */

export class Dataset {
  /** @param {import("./api.js").Api} api @param {import("./results.js").Results} results @param {DatasetActions} actions */
  constructor(api, results, actions) {
    this.api = api;
    this.results = results;
    this.actions = actions;
    /** The version of the numbers at the foot. */
    this.stated = "";
    /** How many stores there are. @type {number | null} */
    this.whole = null;
    /** The attributes of the stores, as JSON to compare. */
    this.declared = "";
    this.#listen();
  }

  #listen() {
    const { api, results } = this;
    api.addEventListener("version", () => (byId("newer").hidden = results.version === "" || api.version === results.version));
    byId("newer").querySelector("button").addEventListener("click", () => {
      results.names.clear();
      this.actions.onReload();
    });
    document.addEventListener("visibilitychange", () => this.#look());
    setInterval(() => this.#look(), LOOK_MILLISECONDS);
  }

  /** Look whether newer data is served. */
  async #look() {
    if (document.hidden || !this.results.version) return;
    try {
      await this.api.get("stores", { limit: "1", fields: "store_id" });
    } catch {
      // The next request of the person says why.
    }
  }

  /** @param {Date | null} modified say how much data there is, and of when */
  async show(modified) {
    const { version } = this.results;
    byId("newer").hidden = true;
    if (this.stated === version) return;
    this.stated = version;
    const { stores, companies, hasAttributes } = await this.results.whole();
    this.whole = stores;
    this.actions.onWhole();
    const facts = [TEXT.stores(stores), TEXT.companies(companies)].map((text) => element("span", {}, text));
    if (modified) facts.push(element("span", { title: formatMoment(modified) }, TEXT.age(formatDay(modified))));
    byId("state").replaceChildren(...facts, element("span", { class: "version" }, TEXT.version(version)));
    await this.#showAttributes(hasAttributes);
  }

  /** @param {boolean} has whether stores have attributes, without which the page works, too */
  async #showAttributes(has) {
    let attributes;
    try {
      attributes = has ? attributesOf((await this.api.get("openapi.json")).body) : [];
    } catch {
      return;
    }
    const text = JSON.stringify(attributes);
    if (text === this.declared) return;
    this.declared = text;
    setLabels(attributes);
    this.actions.onAttributes(attributes);
  }
}
