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

/**
 * Load what a map needs, and make it.
 * @param {HTMLElement} root
 * @param {import("./api.js").Api} api
 * @param {import("./view.js").Shown} shown
 * @param {(id: string) => void} onOpen
 */
export async function mapIn(root, api, { language, service }, onOpen) {
  sheets ??= Promise.all(["leaflet.css", "map.css"].map(sheetOf));
  try {
    /** @type {ShadowRoot} */ (root.getRootNode()).adoptedStyleSheets = [...(await sheets), SHEET];
  } catch (error) {
    sheets = undefined;
    throw error;
  }
  const none = () => {};
  const actions = { onOpen, onHover: none, onArea: none, onPick: none, onMove: none, onError: none, say: none };
  return new StoreMap(L, root, api, language, { url: service.tiles, attribution: service.attribution }, actions);
}
