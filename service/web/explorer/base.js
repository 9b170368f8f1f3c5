// What is under the stores: lines of Natural Earth with names, or tiles of the operator, drawn by Leaflet.

import { ApiError } from "./api.js";
import { colour, element, fileUrl } from "./dom.js";
import { MapNames } from "./names.js";

/** From this zoom on the finer lines are shown, which take longer to load. */
const FINE_ZOOM = 4.5;
/** From this zoom on the lines are too coarse to find a way by, */
const STREET_ZOOM = 11;
/** and from this one on to tell land from sea. */
const PLAIN_ZOOM = 12;

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
 * Return a map with nothing on it but its controls.
 * @param {any} L
 * @param {HTMLElement} root
 * @param {import("./language.js").Language} language
 * @param {boolean} isCalm whether nothing moves by itself
 * @param {Record<string, any>} options
 */
export function emptyMap(L, root, { TEXT, isMiles }, isCalm, options) {
  const map = L.map(root, {
    preferCanvas: true,
    zoomControl: false, // its titles are not in the visitor's language
    minZoom: 0,
    maxBoundsViscosity: 1,
    zoomAnimation: !isCalm,
    fadeAnimation: !isCalm,
    markerZoomAnimation: !isCalm,
    ...options,
  });
  map.attributionControl.setPrefix(false);
  map.setView([25, 0], 2, { animate: false });
  L.control.zoom({ zoomInTitle: TEXT.zoomIn, zoomOutTitle: TEXT.zoomOut }).addTo(map);
  L.control.scale({ position: "bottomleft", metric: !isMiles(), imperial: isMiles() }).addTo(map);
  return map;
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

/**
 * Add tiles to a map.
 * @param {any} L
 * @param {any} map
 * @param {{url: string, attribution: string}} tiles
 */
export function addTiles(L, map, { url, attribution }) {
  const text = element("span", {}, attribution).innerHTML; // escaped: the library takes HTML
  const options = { attribution: text, maxZoom: 19, referrerPolicy: "strict-origin-when-cross-origin" };
  new (tileLayer(L))(url, options).addTo(map);
}

/** The lines of countries, finer ones with provinces if the map is closer, and the names of both. */
export class BaseMap {
  /** @param {any} L @param {any} map @param {import("./language.js").Language} language @param {(text: string) => void} say */
  constructor(L, map, language, say) {
    this.L = L;
    this.map = map;
    this.say = say;
    this.language = language;
    this.west = -180;
    /** How fine the lines are that fit the zoom: `coarse`, `fine`, `none`. */
    this.detail = "coarse";
    const pane = map.createPane("base");
    pane.style.zIndex = "200";
    pane.style.pointerEvents = "none";
    this.renderer = L.canvas({ pane: "base", padding: 0.3 });
    this.layers = { coarse: L.layerGroup(), fine: L.layerGroup() };
    /** @type {{group: any, lines: any}[]} */
    this.drawn = [];
    /** @type {Promise<boolean> | undefined} */
    this.fine = undefined;
    this.names = new MapNames(L, map, language);
    map.attributionControl.addAttribution(language.TEXT.baseMap);
    this.#load("countries.json", this.layers.coarse);
    this.layers.coarse.addTo(map);
  }

  /** Show the lines that fit the zoom, after each move. */
  choose() {
    const zoom = this.map.getZoom();
    this.names.draw(this.west);
    if (zoom >= STREET_ZOOM && !this.warned) {
      this.warned = true;
      this.say(this.language.TEXT.noStreets);
    }
    this.detail = zoom >= PLAIN_ZOOM ? "none" : zoom >= FINE_ZOOM ? "fine" : "coarse";
    this.map.getContainer().classList.toggle("plain", this.detail === "none");
    if (this.detail !== "fine") return this.#show(this.detail);
    this.fine ??= this.#load("provinces.json", this.layers.fine);
    this.fine.then((loaded) => loaded && this.#show("fine"));
  }

  /** @param {string} detail show the lines that are so fine, if the map has not been moved on */
  #show(detail) {
    if (detail !== this.detail) return;
    for (const [name, layer] of Object.entries(this.layers)) name === detail ? layer.addTo(this.map) : layer.remove();
  }

  /** @param {number} west draw the world from another longitude on, or in other colours */
  redraw(west) {
    this.west = west;
    for (const { group, lines } of this.drawn) this.#draw(group, lines);
    this.names.draw(west);
  }

  /** @param {string} name @param {any} group @returns {Promise<boolean>} whether it is there */
  async #load(name, group) {
    try {
      const lines = await (await fetch(fileUrl(name))).json();
      this.drawn.push({ group, lines });
      this.#draw(group, lines);
      return true;
    } catch {
      this.fine = undefined; // the stores are shown without it, and the next move tries again
      return false;
    }
  }

  /** @param {any} group @param {any} lines */
  #draw(group, lines) {
    const { L, renderer } = this;
    const root = this.map.getContainer();
    const copies = this.west === -180 ? [0] : [0, 360]; // a map across 180° has the west behind the east
    const points = (/** @type {string[]} */ texts) =>
      texts.flatMap((text) => {
        const line = decoded(text, lines.steps);
        return copies.map((turn) => (turn ? line.map(([y, x]) => /** @type {[number, number]} */ ([y, x + turn])) : line));
      });
    const common = { renderer, pane: "base", interactive: false, smoothFactor: 0.6 };
    const border = (/** @type {string} */ name, /** @type {number} */ weight) => ({ ...common, color: colour(name, root), weight });
    group.clearLayers();
    group.addLayer(L.polygon(points(lines.land), { ...border("--map-coast", 0.8), fillColor: colour("--map-land", root), fillOpacity: 1 }));
    if (lines.provinces.length) group.addLayer(L.polyline(points(lines.provinces), border("--map-province", 0.8)));
    group.addLayer(L.polyline(points(lines.countries), border("--map-border", 1.2)));
  }
}
