// The map: where it looks, and what it asks the service for. Marks and ground are modules of their own.

import { ApiError } from "./api.js";
import { BaseMap, addTiles } from "./base.js";
import { colour, element } from "./dom.js";
import { Frame } from "./frame.js";
import { Marks } from "./marks.js";
import { IN_MILES, TEXT } from "./strings.js";

const HIGHEST_ZOOM = 18;
const TOWN_ZOOM = 11;
/** From this zoom on towns have names. */
const NAMES_ZOOM = 5;
/** From this zoom on these are the towns nearest to the middle, else the largest. */
const NEAR_ZOOM = 8;
const MOST_POINTS = 1000;
const NEAREST = 10;
const MOST_TOWNS = "50";
/** With more stores, where they are is looked up in a coarser grid first, */
const MANY = 2000;
/** which is too coarse to show all of them if it has fewer cells. */
const FEW_CELLS = 16;
const EDGE = 85;
// What a request for clusters does not take.
const OF_THE_LIST = ["near", "radius", "bbox", "sort_by", "sort_order", "fields", "limit", "page_num", "facets", "zoom"];

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
   * @param {{url: string, attribution: string}} tiles
   * @param {MapActions} actions
   */
  constructor(L, root, api, tiles, actions) {
    this.L = L;
    this.api = api;
    this.actions = actions;
    this.abort = new AbortController();
    this.query = new URLSearchParams();
    this.total = 0;
    this.frame = new Frame();
    this.ownArea = "";
    this.picking = false;
    /** Who moves the map: `fit` to a result, `fly` to a store; empty for a person. */
    this.mover = "";
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.map = L.map(root, {
      preferCanvas: true,
      minZoom: 0,
      maxZoom: HIGHEST_ZOOM,
      maxBounds: this.frame.bounds(EDGE),
      maxBoundsViscosity: 1,
      zoomSnap: tiles.url ? 1 : 0.25, // lines are sharp at any zoom, tiles are not
      zoomAnimation: !this.calm,
      fadeAnimation: !this.calm,
      markerZoomAnimation: !this.calm,
    });
    this.map.attributionControl.setPrefix(false);
    this.map.setView([25, 0], 2, { animate: false });
    L.control.scale({ position: "bottomleft", metric: !IN_MILES, imperial: IN_MILES }).addTo(this.map);
    if (tiles.url) addTiles(L, this.map, tiles);
    else this.base = new BaseMap(L, this.map, actions.say);
    this.marks = new Marks(L, this.map, {
      onOpen: actions.onOpen,
      onHover: actions.onHover,
      onZoom: (place) => this.#zoom(place),
      isPicking: () => this.picking,
    });
    this.view = L.layerGroup().addTo(this.map);
    this.chosen = L.layerGroup().addTo(this.map);
    this.pointed = L.layerGroup().addTo(this.map);
    this.map.on("moveend", () => this.#moved());
    this.map.on("click", (/** @type {any} */ event) => this.#clicked(event.latlng));
    new ResizeObserver(() => this.#resized()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#restyle());
  }

  /**
   * Show the stores of a query.
   * @param {URLSearchParams} query that of the list
   * @param {number} total how many there are
   * @param {boolean} fit whether the map moves to them
   */
  async show(query, total, fit) {
    this.query = query;
    this.total = total;
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    await this.#guarded(async () => {
      const isOwn = query.get("bbox") !== null && query.get("bbox") === this.ownArea;
      if (fit && !isOwn && total) await this.#fit(signal);
      this.#drawView();
      await this.#load(signal);
    });
  }

  /**
   * Put a pin on the open store, in sight.
   * @param {Point | null} point
   * @param {{fly?: boolean, below?: number}} [options] whether the map goes to it; the height of what covers its lower edge
   */
  select(point, { fly = false, below = 0 } = {}) {
    this.chosen.clearLayers();
    if (point === null) return;
    const place = this.#placed(point);
    const icon = this.L.divIcon({ className: "pin", iconSize: [26, 26], iconAnchor: [13, 31], html: element("span") });
    this.chosen.addLayer(this.L.marker(place, { icon, keyboard: false, interactive: false, zIndexOffset: 10_000 }));
    const { x: width, y: height } = this.map.getSize();
    if (width === 0) return;
    const zoom = fly ? Math.max(this.map.getZoom(), TOWN_ZOOM) : this.map.getZoom();
    const at = this.map.latLngToContainerPoint(place);
    const isSeen = at.x > 40 && at.y > 50 && at.x < width - 40 && at.y < height - below - 40;
    if (isSeen && zoom === this.map.getZoom()) return;
    const middle = this.map.unproject(this.map.project(place, zoom).add([0, below / 2]), zoom);
    this.mover = "fly";
    if (fly && !this.calm) this.map.flyTo(middle, zoom, { duration: 0.6 });
    else this.map.setView(middle, zoom, { animate: false });
  }

  /** @param {Point | null} point show what is pointed at in the list */
  point(point) {
    this.pointed.clearLayers();
    if (point === null) return;
    const ring = { radius: 12, weight: 3, color: colour("--closed"), fill: false, interactive: false };
    this.pointed.addLayer(this.L.circleMarker(this.#placed(point), ring));
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
    this.ownArea = this.frame.box([box.getWest(), Math.max(box.getSouth(), -90), box.getEast(), Math.min(box.getNorth(), 90)], 4);
    return this.ownArea;
  }

  /** @param {Point} point @returns {Point} where the map draws it */
  #placed([latitude, longitude]) {
    return [latitude, this.frame.in(longitude)];
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

  /** @param {() => void} work move the map to a result, which is loaded then @param {string} [mover] who moves it then */
  #fitting(work, mover = "") {
    this.mover = "fit";
    work();
    this.mover = mover;
  }

  #moved() {
    this.base?.choose();
    const { mover } = this;
    if (mover === "fit") return;
    this.mover = "";
    if (!mover) this.actions.onMove();
    this.abort.abort();
    this.abort = new AbortController();
    this.#guarded(() => this.#load(this.abort.signal));
  }

  #resized() {
    const before = this.map.getSize();
    this.#fitting(() => this.map.invalidateSize({ animate: false, pan: false }), this.mover);
    if (before.x === 0 && this.map.getSize().x > 0) this.show(this.query, this.total, true);
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
    if (this.map.getSize().x === 0) return;
    const { L, map, frame } = this;
    const box = this.query.get("bbox")?.split(",").map(Number);
    const near = /** @type {Point | undefined} */ (this.query.get("near")?.split(",").map(Number));
    const radius = Number(this.query.get("radius"));
    if (box) {
      this.#turn(box[2] < box[0] ? 0 : -180);
      const [[west, south], [east, north]] = [[frame.in(box[0]), box[1]], [box[2] < box[0] ? frame.in(box[2]) : box[2], box[3]]];
      return this.#fitting(() => map.fitBounds([[south, west], [north, east]], { animate: false }));
    }
    const points = near ? [near, ...(radius ? [] : await this.#nearest(signal))] : await this.#points(signal);
    if (!points.length) return;
    this.#turn(frame.narrowest(points.map(([, longitude]) => longitude)));
    const bounds = near && radius ? L.latLng(this.#placed(near)).toBounds(2 * radius) : L.latLngBounds(points.map((each) => this.#placed(each)));
    const isPoint = bounds.getNorthEast().distanceTo(bounds.getSouthWest()) < 2000;
    this.#fitting(() => {
      if (isPoint && !near) map.setView(bounds.getCenter(), this.total === 1 ? TOWN_ZOOM + 2 : TOWN_ZOOM, { animate: false });
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

  /** @param {AbortSignal} signal @returns {Promise<Point[]>} where stores are, roughly if they are many */
  async #points(signal) {
    const coarse = this.total > MANY ? await this.#clusters("3", signal) : [];
    return coarse.length < FEW_CELLS ? this.#clusters("6", signal) : coarse;
  }

  /** @param {string} zoom @param {AbortSignal} signal @returns {Promise<Point[]>} of all clusters */
  async #clusters(zoom, signal) {
    const world = this.#conditions();
    world.set("bbox", `-180,-${EDGE},180,${EDGE}`);
    world.set("zoom", zoom);
    const { body } = await this.api.get("clusters", world, signal);
    return body.features.map((/** @type {any} */ each) => [...each.geometry.coordinates].reverse());
  }

  /** @param {AbortSignal} signal @returns {Promise<Point[]>} */
  async #nearest(signal) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries({ limit: String(NEAREST), fields: "latitude,longitude" })) query.set(name, value);
    const { body } = await this.api.get("stores", query, signal);
    const places = body.data.filter((/** @type {any} */ { latitude, longitude }) => latitude && longitude);
    return places.map((/** @type {any} */ { latitude, longitude }) => [Number(latitude), Number(longitude)]);
  }

  /** @returns {URLSearchParams} what a request for clusters takes of the query */
  #conditions() {
    const query = new URLSearchParams(this.query);
    for (const name of OF_THE_LIST) query.delete(name);
    return query;
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    if (this.map.getSize().x === 0) return;
    this.#addTowns(signal);
    if (this.query.get("radius") && this.query.get("near")) return this.#loadPoints(signal);
    const shown = this.map.getBounds();
    const box = this.frame.within([shown.getWest(), shown.getSouth(), shown.getEast(), shown.getNorth()], this.query.get("bbox"));
    if (box === null) return this.marks.clear();
    const query = this.#conditions();
    query.set("bbox", this.frame.box(box, 5));
    query.set("zoom", String(Math.floor(this.map.getZoom())));
    const { body } = await this.api.get("clusters", query, signal);
    this.#drawMarks(body.features);
  }

  /** Clusters know no circle: the nearest stores are shown one by one. @param {AbortSignal} signal */
  async #loadPoints(signal) {
    const query = new URLSearchParams(this.query);
    for (const name of ["sort_by", "sort_order", "page_num", "facets"]) query.delete(name);
    query.set("fields", "store_id,name,address_1,is_open,latitude,longitude");
    query.set("limit", String(MOST_POINTS));
    const { body } = await this.api.get("stores", query, signal);
    this.#drawMarks(
      body.data.map((/** @type {any} */ store) => ({
        geometry: { coordinates: [Number(store.longitude), Number(store.latitude)] },
        properties: { ...store, count: 1 },
      })),
    );
    if (body.total_count > MOST_POINTS) this.actions.say(TEXT.nearestOnly(MOST_POINTS));
  }

  /** @param {AbortSignal} signal write the names of towns, if the service knows places */
  async #addTowns(signal) {
    if (!this.base || !this.api.paths.includes("/places") || this.map.getZoom() < NAMES_ZOOM) return;
    const query = new URLSearchParams({ q: "-", limit: MOST_TOWNS });
    for (const country of this.query.getAll("country")) query.append("country", country);
    const { lat, lng } = this.map.getCenter().wrap();
    if (this.map.getZoom() >= NEAR_ZOOM) query.set("near", `${lat.toFixed(2)},${lng.toFixed(2)}`);
    try {
      const { body } = await this.api.get("places", query, signal);
      const towns = body.data.filter((/** @type {any} */ { kind }) => kind === "city");
      towns.sort((/** @type {any} */ one, /** @type {any} */ other) => other.stores - one.stores);
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
  }

  /** Draw the point, circle and box of the query. */
  #drawView() {
    const { L, frame } = this;
    this.view.clearLayers();
    const line = { color: colour("--mark"), weight: 1.5, interactive: false, dashArray: "5 5", fillOpacity: 0.05 };
    const near = /** @type {Point | undefined} */ (this.query.get("near")?.split(",").map(Number));
    const radius = Number(this.query.get("radius"));
    const box = this.query.get("bbox")?.split(",").map(Number);
    if (near) {
      const dot = { radius: 5, weight: 3, color: colour("--mark"), fillColor: colour("--map-edge"), fillOpacity: 1, interactive: false };
      if (radius > 0) this.view.addLayer(L.circle(this.#placed(near), { ...line, radius }));
      this.view.addLayer(L.circleMarker(this.#placed(near), dot));
    }
    if (box) {
      const east = box[2] < box[0] ? frame.in(box[2]) : box[2];
      this.view.addLayer(L.rectangle([[box[1], frame.in(box[0])], [box[3], east]], { ...line, fill: false }));
    }
  }

  #restyle() {
    this.base?.redraw(this.frame.west);
    this.#drawView();
    this.marks.redraw();
  }
}
