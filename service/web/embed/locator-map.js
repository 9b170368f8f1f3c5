// The map of <store-locator>: Leaflet in a shadow root, loaded when it is first shown.

import { fileUrl } from "./dom.js";
import L from "./leaflet.js";
import { StoreMap } from "./map.js";
import { SHEET } from "./view.js";

/** Style sheets by name: those of the library, and of what is on the map. @type {Promise<CSSStyleSheet[]> | undefined} */
let sheets;

/** @param {string} name @returns {Promise<CSSStyleSheet>} */
async function sheetOf(name) {
  const response = await fetch(fileUrl(name), { credentials: "omit" });
  if (!response.ok) throw new Error(name);
  return new CSSStyleSheet().replace(await response.text());
}

export class LocatorMap {
  /**
   * @param {HTMLElement} root
   * @param {import("./api.js").Api} api
   * @param {import("./view.js").Shown} shown
   * @param {(id: string) => void} onOpen
   */
  constructor(root, api, { language, service }, onOpen) {
    const none = () => {};
    const actions = { onOpen, onHover: none, onArea: none, onPick: none, onMove: none, onError: none, say: none };
    const tiles = { url: service.tiles, attribution: service.attribution };
    this.stores = new StoreMap(L, root, api, language, tiles, actions);
    /** What the map was fitted to: another page does not move it. */
    this.fitted = "none yet";
  }

  /**
   * Load what a map needs, and make it.
   * @param {HTMLElement} root
   * @param {import("./api.js").Api} api
   * @param {import("./view.js").Shown} shown
   * @param {(id: string) => void} onOpen
   */
  static async load(root, api, shown, onOpen) {
    sheets ??= Promise.all(["leaflet.css", "map.css"].map(sheetOf));
    try {
      const loaded = await sheets;
      /** @type {ShadowRoot} */ (root.getRootNode()).adoptedStyleSheets = [...loaded, SHEET];
    } catch (error) {
      sheets = undefined;
      throw error;
    }
    return new LocatorMap(root, api, shown, onOpen);
  }

  /** @param {URLSearchParams} query @param {number} total show the stores of a query */
  async show(query, total) {
    const conditions = query.toString();
    const fits = conditions !== this.fitted;
    this.fitted = conditions;
    if (fits) await this.stores.show(new URLSearchParams(query), total, true);
  }

  /** @param {[number, number] | null} point put the pin on a store; on none with null */
  select(point) {
    this.stores.select(point, { fly: point !== null });
  }

  remove() {
    this.stores.remove();
  }
}
