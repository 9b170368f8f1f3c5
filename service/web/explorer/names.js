// The names on the map: those of countries in the visitor's language, of provinces, and of towns where stores are.

import { element, fileUrl } from "./dom.js";

const MOST = 70;
const LEAST_ZOOM = { country: 2, province: 4, town: 5 };
/** Names are shown so much before they fit their country: they may stand over its borders. */
const EARLIER = 0.75;
const LINE = 15; // pixels
const CHARACTER = 7;
const BELOW = 20;
const FARTHEST = 40;

/**
 * @typedef {{kind: "country" | "province" | "town", text: string, latitude: number, longitude: number, zoom: number}} Name
 *   a text at a point, from a zoom on
 */

/** @typedef {{x: number, y: number, radius: number}} Circle that of a mark, in pixels */

/** @param {number} value @param {number} middle @param {number} reach @returns {number} what of an interval is nearest to a value */
const nearest = (value, middle, reach) => Math.max(middle - reach, Math.min(value, middle + reach));

/**
 * Return the names that have room beside each other and the marks, the first first. A town's is below its point; one that a
 * mark would cover is below the mark, or above it.
 * @template {{kind: string, text: string, x: number, y: number}} Placed
 * @param {Placed[]} names at places in pixels
 * @param {Circle[]} circles
 * @param {number} width that of the map, which cuts no name
 * @returns {(Placed & {down: number})[]} how far below its place a name is
 */
export function withRoom(names, circles, width) {
  /** @type {{x: number, y: number, half: number}[]} */
  const taken = [];
  /** @type {(Placed & {down: number})[]} */
  const chosen = [];
  for (const name of names) {
    const { text, x, y } = name;
    if (chosen.some((each) => each.text === text && each.kind !== name.kind)) continue; // a city that is a province
    const half = (text.length * CHARACTER) / 2 + 4;
    if (x < half || x > width - half) continue;
    const covers = (/** @type {Circle} */ { x: across, y: up, radius }, /** @type {number} */ at) =>
      Math.hypot(across - nearest(across, x, half), up - nearest(up, at, LINE / 2)) < radius;
    const isFree = (/** @type {number} */ down) =>
      !circles.some((each) => covers(each, y + down)) &&
      !taken.some((each) => Math.abs(x - each.x) < half + each.half && Math.abs(y + down - each.y) < LINE);
    const usual = name.kind === "town" ? BELOW : 0;
    const covering = circles.filter((each) => covers(each, y + usual));
    const beside = [1, -1].flatMap((side) => covering.map((each) => each.y + side * (each.radius + LINE / 2) - y));
    const down = [usual, ...beside].find((each) => Math.abs(each) <= FARTHEST && isFree(each));
    if (down === undefined) continue;
    taken.push({ x, y: y + down, half });
    chosen.push({ ...name, down });
    if (chosen.length === MOST) break;
  }
  return chosen;
}

export class MapNames {
  /** @param {any} L @param {any} map @param {import("./language.js").Language} language */
  constructor(L, map, language) {
    this.L = L;
    this.map = map;
    this.language = language;
    const pane = map.createPane("names");
    pane.style.zIndex = "300";
    pane.style.pointerEvents = "none";
    this.layer = L.layerGroup().addTo(map);
    /** @type {Name[]} */
    this.names = [];
    /** @type {Name[]} */
    this.towns = [];
    /** The marks, which no name touches. @type {{place: any, radius: number}[]} */
    this.marks = [];
    this.west = -180;
    this.#load();
  }

  async #load() {
    try {
      const { countries, provinces } = await (await fetch(fileUrl("names.json"))).json();
      const named = (/** @type {Name["kind"]} */ kind) => (/** @type {any[]} */ [text, longitude, latitude, zoom]) => ({
        kind, text: kind === "country" ? this.language.countryName(text) : text, latitude, longitude, zoom: Math.max(zoom, LEAST_ZOOM[kind]),
      });
      this.names = [...countries.map(named("country")), ...provinces.map(named("province"))];
      this.draw(this.west);
    } catch {
      // The map is as good as without names.
    }
  }

  /** @param {Name[]} towns where stores are, the largest first */
  setTowns(towns) {
    this.towns = towns;
    this.draw(this.west);
  }

  /** @param {{place: any, radius: number}[]} marks draw the names beside marks */
  avoid(marks) {
    this.marks = marks;
    this.draw(this.west);
  }

  /** @param {number} west show the names in view; the longitude where the map begins */
  draw(west) {
    this.west = west;
    const { L, map, layer } = this;
    const zoom = map.getZoom();
    const bounds = map.getBounds();
    const placed = [...this.names.filter(({ kind }) => kind === "country"), ...this.towns, ...this.names.filter(({ kind }) => kind === "province")]
      .filter((each) => each.zoom <= zoom + EARLIER && (each.kind === "town" || zoom < each.zoom + 5))
      .map((each) => ({ ...each, point: [each.latitude, each.longitude < west ? each.longitude + 360 : each.longitude] }))
      .filter(({ point }) => bounds.contains(point))
      .map((each) => ({ ...each, ...map.latLngToContainerPoint(each.point) }));
    layer.clearLayers();
    const circles = this.marks.map(({ place, radius }) => ({ ...map.latLngToContainerPoint(place), radius }));
    for (const { kind, text, point, down } of withRoom(placed, circles, map.getSize().x)) {
      const html = element("span", { "aria-hidden": "true" }, text);
      const icon = L.divIcon({ className: `name-of ${kind}`, iconSize: [0, 0], iconAnchor: [0, -down], html });
      layer.addLayer(L.marker(point, { icon, pane: "names", keyboard: false, interactive: false }));
    }
  }
}
