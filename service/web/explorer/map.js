// The map: where it looks, and what is drawn on it.

import { ApiError } from "./api.js";
import { BaseMap, addTiles, emptyMap } from "./base.js";
import { Frame, Locations } from "./locations.js";
import { Marks } from "./marks.js";

const HIGHEST_ZOOM = 18;
const TOWN_ZOOM = 11;
/** From this zoom on towns have names. */
const NAMES_ZOOM = 5;
/** From this zoom on these are the towns nearest to the middle, else the largest. */
const NEAR_ZOOM = 8;
const EDGE = 85;

/**
 * @typedef {import("./api.js").Api} Api
 * @typedef {[number, number]} Point latitude and longitude
 * @typedef {{onOpen: (id: string) => void, onHover: (id: string) => void, onArea: (bbox: string) => void,
 *   onPick: (point: string) => void, onMove: () => void, onError: (error: ApiError) => void, say: (text: string) => void}} MapActions
 */

export class StoreMap {
  /**
   * @param {any} L the library
   * @param {HTMLElement} root
   * @param {Api} api
   * @param {import("./language.js").Language} language
   * @param {{url: string, attribution: string}} tiles
   * @param {MapActions} actions
   */
  constructor(L, root, api, language, tiles, actions) {
    this.L = L;
    this.language = language;
    this.locations = new Locations(api);
    this.actions = actions;
    this.searching = new AbortController(); // for where a result is, until there is another
    this.loading = new AbortController(); // of what is in sight, until the map moves
    this.frame = new Frame();
    this.picking = false;
    /** Whether the map is moved to a result, which is loaded then; whether there is one to move to when it is seen. */
    this.isFitting = false;
    this.isBehind = false;
    /** What it showed before it went to the open store. @type {import("./locations.js").View | null} */
    this.before = null;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.map = emptyMap(L, root, language, this.calm, {
      maxZoom: HIGHEST_ZOOM,
      maxBounds: this.frame.bounds(EDGE),
      zoomSnap: tiles.url ? 1 : 0.25, // lines are sharp at any zoom, tiles are not
    });
    /** What the map shows of the list; the last area that was searched here. */
    this.home = this.frame.view(this.map);
    this.own = { area: "", view: this.home };
    if (tiles.url) addTiles(L, this.map, tiles);
    else this.base = new BaseMap(L, this.map, language, actions.say);
    this.marks = new Marks(L, this.map, language, {
      onOpen: actions.onOpen,
      onHover: actions.onHover,
      onZoom: (place) => this.#zoom(place),
      isPicking: () => this.picking,
    });
    this.map.on("moveend", () => this.#moved());
    this.map.on("click", (/** @type {any} */ event) => this.#clicked(event.latlng));
    this.observer = new ResizeObserver(() => this.#resized());
    this.observer.observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#restyle());
  }

  /**
   * Show the stores of a query.
   * @param {URLSearchParams} query that of the list
   * @param {number} total how many there are
   * @param {boolean} fit whether the map moves to them
   */
  async show(query, total, fit) {
    this.locations.query = query;
    this.locations.total = total;
    this.searching.abort();
    const { signal } = (this.searching = new AbortController());
    this.isBehind = !this.isSeen;
    if (this.isBehind) return;
    await this.#guarded(async () => {
      if (fit && total) {
        await this.#fit(signal);
        this.home = this.frame.view(this.map);
        this.before = null;
      }
      this.actions.onMove();
      this.marks.outline(this.locations.area, this.frame);
      await this.#load();
    });
  }

  /** @returns {boolean} whether the map is in sight: out of it, it keeps its view */
  get isSeen() {
    return this.map.getContainer().clientWidth > 0;
  }

  /** @returns {boolean} whether the map shows what the list is of */
  get isHome() {
    return this.frame.shows(this.map, this.home);
  }

  /** @param {Point | null} point put the pin there */
  pin(point) {
    this.marks.pin(point && this.frame.placed(point));
  }

  /**
   * Put the pin on the open store, in sight; without one, go back to what the map showed before.
   * @param {Point | null} point
   * @param {{fly?: boolean, below?: number}} [options] whether the map goes to it; the height of what covers its lower edge
   */
  select(point, { fly = false, below = 0 } = {}) {
    this.pin(point);
    if (point === null) return this.#return();
    if (!this.isSeen) return;
    this.#resized();
    const { x: width, y: height } = this.map.getSize();
    const place = this.frame.placed(point);
    const zoom = fly ? Math.max(this.map.getZoom(), TOWN_ZOOM) : this.map.getZoom();
    const at = this.map.latLngToContainerPoint(place);
    const isSeen = at.x > 40 && at.y > 50 && at.x < width - 40 && at.y < height - below - 40;
    if (isSeen && zoom === this.map.getZoom()) return;
    const middle = this.map.unproject(this.map.project(place, zoom).add([0, below / 2]), zoom);
    this.before ??= this.frame.view(this.map);
    if (fly && !this.calm) this.map.flyTo(middle, zoom, { duration: 0.6 });
    else this.map.setView(middle, zoom, { animate: false });
  }

  /** @param {Point | null} point show what is pointed at in the list */
  point(point) {
    this.marks.point(point && this.frame.placed(point));
  }

  remove() {
    this.observer.disconnect();
    this.searching.abort();
    this.loading.abort();
    this.map.remove();
  }

  /** Let the next click choose a point. */
  pick() {
    this.picking = true;
    this.map.getContainer().classList.add("picking");
  }

  cancelPick() {
    this.picking = false;
    this.map.getContainer().classList.remove("picking");
  }

  /** @returns {string} what the map shows, as the value of `bbox` */
  area() {
    const box = this.map.getBounds();
    const area = this.frame.box([box.getWest(), Math.max(box.getSouth(), -90), box.getEast(), Math.min(box.getNorth(), 90)], 4);
    this.own = { area, view: this.frame.view(this.map) };
    return area;
  }

  /** @param {() => Promise<unknown>} work */
  async #guarded(work) {
    try {
      await work();
    } catch (error) {
      if (error instanceof ApiError) this.actions.onError(error);
      else if (/** @type {any} */ (error)?.name !== "AbortError") throw error;
    }
  }

  /** @param {() => void} work move the map to a result, which is loaded then; it stays in the world at once, not in a while */
  #fitting(work) {
    this.isFitting = true;
    work();
    this.map.panInsideBounds(this.map.options.maxBounds, { animate: false });
    this.isFitting = false;
  }

  #return() {
    if (this.before) this.#look(this.before);
    this.before = null;
  }

  /** @param {import("./locations.js").View} view show it again */
  #look({ west, corner, zoom }) {
    const { map } = this;
    this.#turn(west);
    map.setView(map.unproject(corner.add(map.getSize().divideBy(2)), zoom), zoom, { animate: false });
  }

  #moved() {
    this.base?.choose();
    if (this.isFitting) return;
    this.actions.onMove();
    this.#guarded(() => this.#load());
  }

  #resized() {
    if (!this.isSeen) return;
    this.#fitting(() => this.map.invalidateSize({ animate: false, pan: false }));
    if (this.isBehind) this.show(this.locations.query, this.locations.total, true);
  }

  /** @param {any} place */
  #clicked(place) {
    if (!this.picking) return;
    this.cancelPick();
    const { lat, lng } = place.wrap();
    this.actions.onPick(`${lat.toFixed(5)},${lng.toFixed(5)}`);
  }

  /** @param {any} place that of a cluster */
  #zoom(place) {
    const zoom = this.map.getZoom();
    if (zoom < HIGHEST_ZOOM) return this.map.setView(place, Math.min(zoom + 2, HIGHEST_ZOOM));
    const { lat, lng } = place.wrap(); // as close as it gets: the list shows them
    this.actions.onArea([lng - 0.001, lat - 0.001, lng + 0.001, lat + 0.001].map((each) => each.toFixed(4)).join(","));
  }

  /** @param {AbortSignal} signal */
  async #fit(signal) {
    const { L, map, frame, locations } = this;
    const { box, near, radius } = locations.area;
    if (box) {
      if (locations.query.get("bbox") === this.own.area) return this.#fitting(() => this.#look(this.own.view));
      this.#turn(box[2] < box[0] ? 0 : -180);
      return this.#fitting(() => map.fitBounds(frame.corners(box), { animate: false }));
    }
    const points = near ? [near, ...(radius ? [] : await locations.nearest(signal))] : await locations.all(signal);
    if (!points.length) return;
    this.#turn(frame.narrowest(points.map(([, longitude]) => longitude)));
    const bounds = near && radius ? L.latLng(frame.placed(near)).toBounds(2 * radius) : L.latLngBounds(points.map((each) => frame.placed(each)));
    const isPoint = bounds.getNorthEast().distanceTo(bounds.getSouthWest()) < 2000;
    this.#fitting(() => {
      if (isPoint && !near) map.setView(bounds.getCenter(), locations.total === 1 ? TOWN_ZOOM + 2 : TOWN_ZOOM, { animate: false });
      else map.fitBounds(bounds.pad(0.03), { animate: false, padding: [30, 30], maxZoom: TOWN_ZOOM + 4 });
    });
  }

  /** @param {number} west begin the map at another longitude */
  #turn(west) {
    if (west === this.frame.west) return;
    this.frame.west = west;
    this.map.options.maxBounds = this.L.latLngBounds(this.frame.bounds(EDGE));
    this.base?.redraw(west);
  }

  async #load() {
    this.loading.abort();
    const { signal } = (this.loading = new AbortController());
    if (this.map.getSize().x === 0) return;
    this.#addTowns(signal);
    const { locations } = this;
    if (locations.hasCircle) {
      const { features, isCut } = await locations.inCircle(signal);
      this.#drawMarks(features);
      if (isCut) this.actions.say(this.language.TEXT.nearestOnly(this.language.formatNumber(features.length)));
      return;
    }
    const shown = this.map.getBounds();
    const box = this.frame.within([shown.getWest(), shown.getSouth(), shown.getEast(), shown.getNorth()], locations.query.get("bbox"));
    if (box === null) return this.marks.clear();
    this.#drawMarks(await locations.clusters(this.frame.box(box, 5), this.map.getZoom(), signal));
  }

  /** @param {AbortSignal} signal write the names of towns */
  async #addTowns(signal) {
    const zoom = this.map.getZoom();
    if (!this.base || zoom < NAMES_ZOOM) return;
    try {
      const towns = await this.locations.towns(zoom >= NEAR_ZOOM ? this.map.getCenter().wrap() : null, signal);
      this.base.names.setTowns(
        towns.map((/** @type {any} */ { name, latitude, longitude }) => ({ kind: "town", text: name, latitude, longitude, zoom: NAMES_ZOOM })),
      );
    } catch {
      // The map is as good as without them.
    }
  }

  /** @param {any[]} features */
  #drawMarks(features) {
    this.marks.draw(features, (longitude) => this.frame.in(longitude));
    this.base?.names.avoid(this.marks.drawn);
  }

  #restyle() {
    this.base?.redraw(this.frame.west);
    this.marks.outline(this.locations.area, this.frame);
    this.marks.redraw();
  }
}
