// The map: clusters of the service over lines of countries, drawn by Leaflet.

import { ApiError } from "./api.js";
import { element } from "./dom.js";
import { IN_MILES, TEXT, formatNumber, formatShort } from "./strings.js";

const HIGHEST_ZOOM = 18;
/** From this zoom on the finer lines are shown, which take longer to load. */
const FINE_ZOOM = 5;
const TOWN_ZOOM = 11;
/** Of a cluster, in pixels. */
const WIDEST = 42;
const MOST_POINTS = 1000;
/** With more stores, where they are is looked up in a coarser grid first, */
const MANY = 2000;
/** which is too coarse to show all of them if it has fewer cells. */
const FEW_CELLS = 16;
const EDGE = 85;
// What a request for clusters does not take.
const OF_THE_LIST = ["near", "radius", "bbox", "sort_by", "sort_order", "fields", "limit", "page_num", "facets", "zoom"];

/**
 * @typedef {import("./api.js").Api} Api
 * @typedef {{onOpen: (id: string) => void, onArea: (bbox: string) => void, onPick: (point: string) => void,
 *   onMove: () => void, onError: (error: ApiError) => void, say: (text: string) => void}} MapActions
 */

/** @param {string} path @returns {URL} a file beside this one */
const fileUrl = (path) => new URL(path, import.meta.url);

/** Load the library, which takes longer than the rows of the list. @returns {Promise<any>} */
export async function loadLeaflet() {
  const style = element("link", { rel: "stylesheet", href: fileUrl("leaflet.css").href });
  const script = element("script", { src: fileUrl("leaflet.js").href });
  const loaded = [style, script].map(
    (each) => new Promise((resolve, reject) => {
      each.addEventListener("load", resolve);
      each.addEventListener("error", () => reject(new ApiError("offline")));
    }),
  );
  document.head.prepend(style); // before our own styles
  document.head.append(script);
  await Promise.all(loaded);
  return /** @type {any} */ (window).L;
}

/**
 * Return the points of an encoded polyline, longitude first, as latitude and longitude.
 * @param {string} text
 * @param {number} steps steps of a degree
 * @returns {[number, number][]}
 */
export function decoded(text, steps) {
  const numbers = [0, 0];
  /** @type {[number, number][]} */
  const points = [];
  for (let at = 0, which = 0; at < text.length; which = 1 - which) {
    let value = 0;
    for (let shift = 0, bits = 32; bits >= 32; shift += 5) {
      bits = text.charCodeAt(at++) - 63;
      value |= (bits & 31) << shift;
    }
    numbers[which] += value & 1 ? ~(value >> 1) : value >> 1;
    if (which) points.push([numbers[1] / steps, numbers[0] / steps]);
  }
  return points;
}

/**
 * Return the class of tiles that need no image to end a request: that of the library is a data: URL, which the
 * policy forbids. It replaces what release 1.9.4 has.
 * @param {any} L
 */
function tileLayer(L) {
  return L.TileLayer.extend({
    _removeTile(/** @type {string} */ key) {
      this._tiles[key]?.el.removeAttribute("src");
      return L.GridLayer.prototype._removeTile.call(this, key);
    },
    _abortLoading() {
      for (const [key, { coords, el }] of Object.entries(/** @type {Record<string, any>} */ (this._tiles))) {
        if (coords.z === this._tileZoom) continue;
        el.onload = el.onerror = null;
        if (el.complete) continue;
        el.removeAttribute("src");
        el.remove();
        delete this._tiles[key];
        this.fire("tileabort", { tile: el, coords });
      }
    },
  });
}

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
    this.ownArea = "";
    /** @type {Promise<boolean> | undefined} */
    this.fine = undefined;
    this.byProgram = true;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.map = L.map(root, {
      preferCanvas: true,
      minZoom: 1,
      maxZoom: HIGHEST_ZOOM,
      maxBounds: [[-EDGE, -180], [EDGE, 180]],
      maxBoundsViscosity: 1,
      zoomSnap: tiles.url ? 1 : 0.25, // lines are sharp at any zoom, tiles are not
      zoomAnimation: !calm,
      fadeAnimation: !calm,
      markerZoomAnimation: !calm,
    });
    this.map.attributionControl.setPrefix(false);
    this.map.setView([25, 0], 2, { animate: false });
    L.control.scale({ position: "bottomleft", metric: !IN_MILES, imperial: IN_MILES }).addTo(this.map);
    const basePane = this.map.createPane("base");
    basePane.style.zIndex = "200";
    basePane.style.pointerEvents = "none";
    this.baseRenderer = L.canvas({ pane: "base", padding: 0.3 });
    this.base = { coarse: L.layerGroup(), fine: L.layerGroup() };
    this.marks = L.layerGroup().addTo(this.map);
    this.view = L.layerGroup().addTo(this.map);
    this.chosen = L.layerGroup().addTo(this.map);
    if (tiles.url) this.#addTiles(tiles);
    else this.#addBase();
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
   * Put a pin on the open store.
   * @param {[number, number] | null} point
   * @param {number} [covered] how wide the card over the map is
   */
  select(point, covered = 0) {
    this.chosen.clearLayers();
    if (point === null) return;
    const icon = this.L.divIcon({ className: "pin", iconSize: [26, 26], iconAnchor: [13, 31], html: element("span") });
    this.chosen.addLayer(this.L.marker(point, { icon, keyboard: false, interactive: false, zIndexOffset: 10_000 }));
    const { x: width } = this.map.getSize();
    if (width === 0) return;
    const paddingBottomRight = [Math.min(covered + 40, width - 60), 40];
    this.#move(() => this.map.panInside(point, { paddingTopLeft: [40, 40], paddingBottomRight, animate: false }));
  }

  /** @param {[number, number]} point */
  goTo(point) {
    this.map.setView(point, Math.max(this.map.getZoom(), TOWN_ZOOM + 2));
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
    const [west, south, east, north] = [
      Math.max(box.getWest(), -180),
      Math.max(box.getSouth(), -90),
      Math.min(box.getEast(), 180),
      Math.min(box.getNorth(), 90),
    ].map((each) => Number(each.toFixed(4)));
    this.ownArea = [west, south, east, north].join(",");
    return this.ownArea;
  }

  /** @param {() => Promise<void>} work */
  async #guarded(work) {
    try {
      await work();
    } catch (error) {
      if (error instanceof ApiError) this.actions.onError(error);
      else if (/** @type {any} */ (error)?.name !== "AbortError") throw error;
    }
  }

  /** @param {() => void} work move the map, not as a person does */
  #move(work) {
    this.byProgram = true;
    work();
    this.byProgram = false;
  }

  #moved() {
    this.#chooseBase();
    if (this.byProgram) return;
    this.actions.onMove();
    this.abort.abort();
    this.abort = new AbortController();
    this.#guarded(() => this.#load(this.abort.signal));
  }

  #resized() {
    const before = this.map.getSize();
    this.#move(() => this.map.invalidateSize({ animate: false, pan: false }));
    if (before.x === 0 && this.map.getSize().x > 0) this.show(this.query, this.total ?? 0, true);
  }

  /** @param {any} place */
  #clicked(place) {
    if (!this.picking) return;
    this.cancelPick();
    const { lat, lng } = place.wrap();
    this.actions.onPick(`${lat.toFixed(5)},${lng.toFixed(5)}`);
  }

  /** @param {AbortSignal} signal */
  async #fit(signal) {
    if (this.map.getSize().x === 0) return;
    const { L, map } = this;
    const box = this.query.get("bbox")?.split(",").map(Number);
    const near = this.query.get("near")?.split(",").map(Number);
    const radius = Number(this.query.get("radius"));
    const options = { animate: false, padding: [24, 24], maxZoom: TOWN_ZOOM + 3 };
    if (box) {
      const [west, south, east, north] = box;
      this.#move(() => map.fitBounds([[south, west], [north, east < west ? 180 : east]], { animate: false }));
    } else if (near && radius) {
      this.#move(() => map.fitBounds(L.latLng(near).toBounds(2 * radius), options));
    } else if (near) {
      this.#move(() => map.setView(near, TOWN_ZOOM - 1, { animate: false }));
    } else {
      const coarse = (this.total ?? 0) > MANY ? await this.#places("3", signal) : [];
      const points = coarse.length < FEW_CELLS ? await this.#places("6", signal) : coarse;
      if (!points.length) return;
      const bounds = L.latLngBounds(points);
      const isPoint = bounds.getNorthEast().distanceTo(bounds.getSouthWest()) < 2000;
      this.#move(() => {
        if (isPoint) map.setView(bounds.getCenter(), points.length === 1 && this.total === 1 ? TOWN_ZOOM + 2 : TOWN_ZOOM, { animate: false });
        else map.fitBounds(bounds.pad(0.03), options);
      });
    }
  }

  /** @param {string} zoom @param {AbortSignal} signal @returns {Promise<[number, number][]>} of all clusters */
  async #places(zoom, signal) {
    const world = this.#conditions();
    world.set("bbox", `-180,-${EDGE},180,${EDGE}`);
    world.set("zoom", zoom);
    const { body } = await this.api.get("clusters", world, signal);
    return body.features.map((/** @type {any} */ each) => [...each.geometry.coordinates].reverse());
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
    if (this.query.get("radius") && this.query.get("near")) return this.#loadPoints(signal);
    const query = this.#conditions();
    const shown = this.map.getBounds();
    const box = [shown.getWest(), shown.getSouth(), shown.getEast(), shown.getNorth()];
    const limits = [-180, -90, 180, 90];
    const wanted = this.query.get("bbox")?.split(",").map(Number);
    const inner = wanted && wanted[0] <= wanted[2] ? wanted : limits;
    const [west, south] = [0, 1].map((at) => Math.max(box[at], inner[at], limits[at]));
    const [east, north] = [2, 3].map((at) => Math.min(box[at], inner[at], limits[at]));
    if (west > east || south > north) return this.marks.clearLayers();
    query.set("bbox", [west, south, east, north].map((each) => Number(each.toFixed(5))).join(","));
    query.set("zoom", String(Math.floor(this.map.getZoom())));
    const { body } = await this.api.get("clusters", query, signal);
    const crosses = wanted && wanted[0] > wanted[2]; // the antimeridian, which the map does not
    const inside = (/** @type {any} */ { geometry: { coordinates: [x, y] } }) =>
      !crosses || ((x >= wanted[0] || x <= wanted[2]) && y >= wanted[1] && y <= wanted[3]);
    this.#drawMarks(body.features.filter(inside));
    this.actions.say("");
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
    this.actions.say(body.total_count > MOST_POINTS ? TEXT.nearestOnly(MOST_POINTS) : "");
  }

  /** @param {any[]} features */
  #drawMarks(features) {
    this.features = features;
    this.marks.clearLayers();
    for (const { geometry, properties } of features) {
      const place = [...geometry.coordinates].reverse();
      this.marks.addLayer(properties.count === 1 ? this.#store(place, properties) : this.#cluster(place, properties.count));
    }
  }

  /** @param {number[]} place @param {any} store */
  #store(place, store) {
    const closed = store.is_open === false;
    const colour = this.#colour(closed ? "--map-closed" : "--mark");
    const mark = this.L.circleMarker(place, {
      radius: 6.5,
      weight: 2,
      color: this.#colour("--map-edge"),
      fillColor: colour,
      fillOpacity: 1,
      bubblingMouseEvents: this.picking === true,
    });
    const lines = [element("strong", {}, store.name || store.store_id), store.address_1 && element("div", {}, store.address_1)];
    mark.bindTooltip(element("div", {}, ...lines, closed ? element("div", {}, TEXT.closed) : null), { direction: "top", offset: [0, -6] });
    mark.on("click", () => this.picking || this.actions.onOpen(store.store_id));
    return mark;
  }

  /** @param {number[]} place @param {number} count */
  #cluster(place, count) {
    const size = Math.min(Math.round(24 + 5 * Math.log10(count)), WIDEST);
    const icon = this.L.divIcon({
      className: "cluster",
      iconSize: [size, size],
      html: element("span", { title: TEXT.cluster(count) }, count < 1000 ? formatNumber(count) : formatShort(count)),
    });
    const mark = this.L.marker(place, { icon, keyboard: false, bubblingMouseEvents: true });
    mark.on("click", () => {
      if (this.picking) return;
      if (this.map.getZoom() < HIGHEST_ZOOM) return this.map.setView(place, Math.min(this.map.getZoom() + 2, HIGHEST_ZOOM));
      const [latitude, longitude] = place; // as close as it gets: the list shows them
      this.actions.onArea([longitude - 0.001, latitude - 0.001, longitude + 0.001, latitude + 0.001].map((each) => each.toFixed(4)).join(","));
    });
    return mark;
  }

  /** Draw the point, circle and box of the query. */
  #drawView() {
    const { L } = this;
    this.view.clearLayers();
    const line = { color: this.#colour("--mark"), weight: 1.5, interactive: false, dashArray: "5 5", fillOpacity: 0.05 };
    const near = this.query.get("near")?.split(",").map(Number);
    const radius = Number(this.query.get("radius"));
    const box = this.query.get("bbox")?.split(",").map(Number);
    if (near) {
      const dot = { radius: 5, weight: 3, color: this.#colour("--mark"), fillColor: this.#colour("--map-edge"), fillOpacity: 1, interactive: false };
      if (radius > 0) this.view.addLayer(L.circle(near, { ...line, radius }));
      this.view.addLayer(L.circleMarker(near, dot));
    }
    if (box && box[0] <= box[2]) {
      const [west, south, east, north] = box;
      this.view.addLayer(L.rectangle([[south, west], [north, east]], { ...line, fill: false }));
    }
  }

  /** @param {string} name @returns {string} a colour of the style sheet */
  #colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  #restyle() {
    for (const { group, lines } of this.drawn ?? []) this.#drawBase(group, lines);
    this.#drawView();
    if (this.features) this.#drawMarks(this.features);
  }

  /** @param {{url: string, attribution: string}} tiles */
  #addTiles({ url, attribution }) {
    const text = element("span", {}, attribution).innerHTML; // escaped: the library takes HTML
    const options = { attribution: text, maxZoom: 19, referrerPolicy: "strict-origin-when-cross-origin" };
    new (tileLayer(this.L))(url, options).addTo(this.map);
  }

  #addBase() {
    this.map.attributionControl.addAttribution(TEXT.baseMap);
    /** @type {{group: any, lines: any}[]} */
    this.drawn = [];
    this.hasBase = true;
    this.#loadBase("countries.json", this.base.coarse);
    this.base.coarse.addTo(this.map);
  }

  #chooseBase() {
    if (!this.hasBase || this.map.getZoom() < FINE_ZOOM) {
      this.base.fine.remove();
      if (this.hasBase) this.base.coarse.addTo(this.map);
      return;
    }
    this.fine ??= this.#loadBase("provinces.json", this.base.fine);
    this.fine.then((loaded) => {
      if (!loaded || this.map.getZoom() < FINE_ZOOM) return;
      this.base.fine.addTo(this.map);
      this.base.coarse.remove();
    });
  }

  /** @param {string} name @param {any} group @returns {Promise<boolean>} whether it is there */
  async #loadBase(name, group) {
    try {
      const lines = await (await fetch(fileUrl(name))).json();
      this.drawn?.push({ group, lines });
      this.#drawBase(group, lines);
      return true;
    } catch {
      this.fine = undefined; // the stores are shown without it, and the next move tries again
      return false;
    }
  }

  /** @param {any} group @param {any} lines */
  #drawBase(group, lines) {
    const { L, baseRenderer: renderer } = this;
    const points = (/** @type {string[]} */ texts) => texts.map((text) => decoded(text, lines.steps));
    const common = { renderer, pane: "base", interactive: false, smoothFactor: 0.6 };
    const border = (/** @type {string} */ colour, /** @type {number} */ weight) => ({ ...common, color: this.#colour(colour), weight });
    group.clearLayers();
    group.addLayer(L.polygon(points(lines.land), { ...border("--map-coast", 0.8), fillColor: this.#colour("--map-land"), fillOpacity: 1 }));
    if (lines.provinces.length) group.addLayer(L.polyline(points(lines.provinces), border("--map-province", 0.8)));
    group.addLayer(L.polyline(points(lines.countries), border("--map-border", 1.2)));
  }
}
