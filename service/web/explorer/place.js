// The map's part of the page: it is loaded after the first rows, and says what it has to say on itself.

import { byId, say } from "./dom.js";
import { LANGUAGE, TEXT } from "./strings.js";

/**
 * @typedef {import("./map.js").StoreMap} StoreMap
 * @typedef {import("./map.js").MapActions} MapActions
 * @typedef {[number, number]} Point
 */

const SAID_MILLISECONDS = 8000;
let ending = 0;

/** @param {string} text say something on the map @param {number} [milliseconds] for how long, if not until something else is said */
export function note(text, milliseconds = 0) {
  clearTimeout(ending);
  if (milliseconds) ending = setTimeout(() => note(""), milliseconds);
  byId("map-note").hidden = !text;
  say(byId("map-note"), text);
}

export class Place {
  /**
   * @param {import("./api.js").Api} api
   * @param {{url: string, attribution: string}} tiles
   * @param {Omit<MapActions, "onMove" | "say">} actions
   */
  constructor(api, tiles, actions) {
    this.api = api;
    this.tiles = tiles;
    this.actions = actions;
    /** @type {StoreMap | null} */
    this.map = null;
    /** @type {Promise<void> | null} */
    this.loading = null;
    /** Whether there is a result that it is to show when it is in sight; whether a click on it is awaited. */
    this.isBehind = true;
    this.isPicking = false;
    /** What the map was fitted to: another order or page does not move it. */
    this.fitted = "none yet";
    /** Where the open store is, and how the map goes there. @type {[Point, {fly: boolean, below: number}] | null} */
    this.chosen = null;
  }

  /** @returns {boolean} whether there is a map to be seen */
  get isShown() {
    return getComputedStyle(byId("place")).display !== "none";
  }

  /**
   * Show the stores of a result.
   * @param {URLSearchParams} selection
   * @param {number} total
   */
  async show(selection, total) {
    for (const name of ["sort_by", "sort_order", "fields"]) selection.delete(name);
    const conditions = selection.toString();
    const fits = conditions !== this.fitted;
    if (fits) say(byId("unplaced"), "");
    this.isBehind = !this.isShown;
    if (this.isBehind) return;
    const before = this.fitted === "none yet" ? null : this.chosen;
    this.loading ??= this.#load();
    try {
      await this.loading;
    } catch {
      this.loading = null;
      this.isBehind = true;
      note(TEXT.noMap);
      return;
    }
    await this.map?.show(selection, total, fits);
    if (this.map?.locations.query !== selection) return; // there is a newer result
    this.fitted = conditions;
    const isWhole = total > 0 && !selection.has("near") && !selection.has("bbox");
    const missing = isWhole && this.map ? total - this.map.locations.placed : 0;
    if (fits && missing > 0) say(byId("unplaced"), TEXT.unplaced(missing));
    if (!fits || !this.chosen) return;
    if (this.chosen === before) this.map?.pin(before[0]); // the result is in sight, not the store that was open before
    else this.map?.select(...this.chosen);
  }

  async #load() {
    const [{ StoreMap }, { loadLeaflet }] = await Promise.all([import("./map.js"), import("./base.js")]);
    const actions = { ...this.actions, onMove: () => (byId("area").hidden = this.map?.isHome ?? true), say: (/** @type {string} */ text) => note(text, SAID_MILLISECONDS) };
    this.map = new StoreMap(await loadLeaflet(), byId("map"), this.api, LANGUAGE, this.tiles, actions);
  }

  /**
   * Put the pin on a store; on none with null.
   * @param {Point | null} point
   * @param {{fly?: boolean, below?: number}} [how] whether the map goes there; how much of its lower edge is covered
   */
  select(point, { fly = false, below = 0 } = {}) {
    this.chosen = point && [point, { fly, below }];
    this.map?.select(point, { fly, below });
  }

  /** Let the next click on the map choose a point. */
  async pick() {
    this.#await(true);
    byId("pick-cancel").focus();
    await this.loading;
    if (this.isPicking) this.map?.pick();
  }

  /** @returns {boolean} whether a click was awaited, and is no more */
  cancelPick() {
    if (!this.isPicking) return false;
    this.#await(false);
    this.map?.cancelPick();
    return true;
  }

  /** @param {boolean} isPicking */
  #await(isPicking) {
    this.isPicking = isPicking;
    byId("pick-cancel").hidden = !isPicking;
    note(isPicking ? TEXT.picking : "");
  }
}
