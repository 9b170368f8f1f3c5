// The names on the map: those of countries in the visitor's language, of provinces, and of towns where stores are.

import { element, fileUrl } from "./dom.js";

const MOST = 70;
const LEAST_ZOOM = { country: 2, province: 4, town: 5 };
/** Names are shown so much before they fit their country: they may stand over its borders. */
const EARLIER = 0.75;
const LINE = 15; // pixels
const CHARACTER = 7;

/**
 * @typedef {{kind: "country" | "province" | "town", text: string, latitude: number, longitude: number, zoom: number}} Name
 *   a text at a point, from a zoom on
 */

/**
 * Return the names that have room, the first first.
 * @param {{text: string, x: number, y: number}[]} names at places in pixels
 * @returns {number[]} their indices
 */
export function withRoom(names) {
  /** @type {{left: number, right: number, y: number}[]} */
  const taken = [];
  const chosen = [];
  for (const [index, { text, x, y }] of names.entries()) {
    const half = (text.length * CHARACTER) / 2 + 4;
    if (taken.some((each) => x - half < each.right && x + half > each.left && Math.abs(y - each.y) < LINE)) continue;
    taken.push({ left: x - half, right: x + half, y });
    chosen.push(index);
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
    for (const { kind, text, point } of withRoom(placed).map((index) => placed[index])) {
      const icon = L.divIcon({ className: `name-of ${kind}`, iconSize: [0, 0], html: element("span", { "aria-hidden": "true" }, text) });
      layer.addLayer(L.marker(point, { icon, pane: "names", keyboard: false, interactive: false }));
    }
  }
}
