// The marks of stores on the map: a dot for one, a circle with a number for many. No two of them touch.

import { colour, element } from "./dom.js";

const DOT = 7;
const HALO = 3;
const WIDEST = 52;
/** Circles of at least so many stores have a stronger tone. */
const TONES = [10, 100, 1000];

/**
 * @typedef {{x: number, y: number, count: number, store?: any}} Mark a place in pixels, how many stores are there, and the
 *   one if there is one
 * @typedef {{onOpen: (id: string) => void, onHover: (id: string) => void, onZoom: (place: any) => void,
 *   isPicking: () => boolean}} MarkActions
 */

/** @param {number} count @returns {number} the width of a mark in pixels */
export const widthOf = (count) => (count === 1 ? 2 * DOT : Math.min(Math.round(22 + 8 * Math.log10(count)), WIDEST));

/** @param {Mark} mark @returns {number} */
const reach = ({ count }) => widthOf(count) / 2 + (count === 1 ? 1 : HALO);

/** @param {Mark} one @param {Mark} other @returns {boolean} */
const touch = (one, other) => Math.hypot(one.x - other.x, one.y - other.y) < reach(one) + reach(other);

/** @param {Mark} one @param {Mark} other @returns {Mark} both in one, nearer to the larger */
function joined(one, other) {
  const count = one.count + other.count;
  const between = (/** @type {number} */ a, /** @type {number} */ b) => (a * one.count + b * other.count) / count;
  return { x: between(one.x, other.x), y: between(one.y, other.y), count };
}

/**
 * Return marks that do not touch: those that do are joined.
 * @param {Mark[]} marks
 * @returns {Mark[]}
 */
export function apart(marks) {
  const waiting = marks.toSorted((one, other) => one.count - other.count);
  /** @type {Mark[]} */
  const placed = [];
  for (let mark = waiting.pop(); mark; mark = waiting.pop()) {
    const at = placed.findIndex((each) => touch(each, /** @type {Mark} */ (mark)));
    if (at < 0) placed.push(mark);
    else waiting.push(joined(placed.splice(at, 1)[0], mark));
  }
  return placed;
}

export class Marks {
  /** @param {any} L @param {any} map @param {import("./language.js").Language} language @param {MarkActions} actions */
  constructor(L, map, language, actions) {
    this.L = L;
    this.map = map;
    this.language = language;
    this.actions = actions;
    this.layer = L.layerGroup().addTo(map);
    this.outlines = L.layerGroup().addTo(map);
    this.chosen = L.layerGroup().addTo(map);
    this.pointed = L.layerGroup().addTo(map);
    /** @type {any[]} */
    this.features = [];
    /** Where marks are, and how far they reach. @type {{place: any, radius: number}[]} */
    this.drawn = [];
  }

  /** @param {[number, number] | null} place put the pin of the open store there */
  pin(place) {
    this.chosen.clearLayers();
    if (place === null) return;
    const icon = this.L.divIcon({ className: "pin", iconSize: [26, 26], iconAnchor: [13, 31], html: element("span") });
    this.chosen.addLayer(this.L.marker(place, { icon, keyboard: false, interactive: false, zIndexOffset: 10_000 }));
  }

  /** @param {[number, number] | null} place show what is pointed at in the list */
  point(place) {
    this.pointed.clearLayers();
    if (place === null) return;
    const ring = { radius: 12, weight: 3, color: colour("--closed", this.map.getContainer()), fill: false, interactive: false };
    this.pointed.addLayer(this.L.circleMarker(place, ring));
  }

  /** @param {any[]} features clusters, or stores, as GeoJSON @param {(longitude: number) => number} inFrame */
  draw(features, inFrame) {
    this.features = features;
    this.inFrame = inFrame;
    const marks = features.map(({ geometry: { coordinates: [x, y] }, properties }) => ({
      ...this.map.project([y, inFrame(x)]),
      count: properties.count,
      store: properties.count === 1 ? properties : undefined,
    }));
    this.clear();
    for (const mark of apart(marks)) {
      const place = this.map.unproject([mark.x, mark.y]);
      this.drawn.push({ place, radius: reach(mark) });
      this.layer.addLayer(mark.store ? this.#dot(place, mark.store) : this.#circle(place, mark.count));
    }
  }

  /** @param {import("./locations.js").Locations["area"]} area draw what a query asks for @param {import("./locations.js").Frame} frame */
  outline({ box, near, radius }, frame) {
    const { L, outlines } = this;
    const [mark, edge] = ["--mark", "--map-edge"].map((name) => colour(name, this.map.getContainer()));
    const line = { color: mark, weight: 1.5, interactive: false, dashArray: "5 5", fillOpacity: 0.05 };
    outlines.clearLayers();
    if (near) {
      const dot = { radius: 5, weight: 3, color: mark, fillColor: edge, fillOpacity: 1, interactive: false };
      if (radius > 0) outlines.addLayer(L.circle(frame.placed(near), { ...line, radius }));
      outlines.addLayer(L.circleMarker(frame.placed(near), dot));
    }
    if (box) outlines.addLayer(L.rectangle(frame.corners(box), { ...line, fill: false }));
  }

  /** Draw the same in other colours. */
  redraw() {
    if (this.inFrame) this.draw(this.features, this.inFrame);
  }

  clear() {
    this.drawn = [];
    this.layer.clearLayers();
  }

  /** @param {any} place @param {any} store */
  #dot(place, store) {
    const closed = store.is_open === false;
    const root = this.map.getContainer();
    const mark = this.L.circleMarker(place, {
      radius: DOT - 0.5,
      weight: 2,
      color: colour("--map-edge", root),
      fillColor: colour(closed ? "--map-closed" : "--mark", root),
      fillOpacity: 1,
      bubblingMouseEvents: this.actions.isPicking(),
    });
    const lines = [element("strong", {}, store.name || store.store_id), store.address_1 && element("div", {}, store.address_1)];
    mark.bindTooltip(element("div", {}, ...lines, closed ? element("div", {}, this.language.TEXT.closedForGood) : null), { direction: "top", offset: [0, -6] });
    mark.on("click", () => this.actions.isPicking() || this.actions.onOpen(store.store_id));
    mark.on("mouseover", () => this.actions.onHover(store.store_id));
    mark.on("mouseout", () => this.actions.onHover(""));
    return mark;
  }

  /** @param {any} place @param {number} count */
  #circle(place, count) {
    const { TEXT, formatNumber, formatShort } = this.language;
    const size = widthOf(count);
    const tone = TONES.filter((least) => count >= least).length;
    const text = count < 1000 ? formatNumber(count) : formatShort(count);
    const icon = this.L.divIcon({
      className: `cluster tone-${tone}`,
      iconSize: [size, size],
      html: element("span", { title: TEXT.cluster(count) }, text),
    });
    const mark = this.L.marker(place, { icon, keyboard: false, bubblingMouseEvents: true });
    mark.on("click", () => this.actions.isPicking() || this.actions.onZoom(place));
    return mark;
  }
}
