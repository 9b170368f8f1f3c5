// Where the stores of a query are, as the map asks the service for it: points, clusters, towns. And where the flat map cuts the
// world: at 180°, or at 0° if stores are on both sides of the Pacific.

const NEAREST = 10;
const MOST_TOWNS = "50";
/** With more stores, where they are is looked up in a coarser grid first, */
const MANY = 2000;
/** which is too coarse to show all of them if it has fewer cells. */
const FEW_CELLS = 16;
const WORLD = "-180,-85,180,85";
// What a request for clusters does not take.
const OF_THE_LIST = ["near", "radius", "bbox", "sort_by", "sort_order", "fields", "limit", "page_num", "facets", "zoom"];

const ALL_ROUND = 360;
const LEFTS = [-180, 0];
const SAME_VIEW = 4; // pixels
/** A map that begins at 0° shows stores in less than this share of the other's width. */
const MUCH_NARROWER = 0.75;

/**
 * @typedef {[number, number]} Point latitude and longitude
 * @typedef {[number, number, number, number]} Box west, south, east, north
 * @typedef {{west: number, corner: any, zoom: number}} View where the world and the map begin, and how close it is
 */

export class Locations {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    /** That of the list. */
    this.query = new URLSearchParams();
    /** How many stores it has. */
    this.total = 0;
    /** How many of the last that were all looked up have coordinates. */
    this.placed = 0;
  }

  /** @returns {{box: Box | undefined, near: Point | undefined, radius: number}} what of the world the query asks for */
  get area() {
    const numbers = (/** @type {string} */ name) => this.query.get(name)?.split(",").map(Number);
    return {
      box: /** @type {Box | undefined} */ (numbers("bbox")),
      near: /** @type {Point | undefined} */ (numbers("near")),
      radius: Number(this.query.get("radius")),
    };
  }

  /** @returns {boolean} whether the query has a circle, which clusters do not know */
  get hasCircle() {
    return Boolean(this.query.get("radius") && this.query.get("near"));
  }

  /** @param {AbortSignal} signal @returns {Promise<Point[]>} where all stores are, roughly if they are many */
  async all(signal) {
    const points = async (/** @type {number} */ zoom) => {
      const features = await this.clusters(WORLD, zoom, signal);
      this.placed = features.reduce((sum, { properties }) => sum + properties.count, 0);
      return features.map(({ geometry }) => /** @type {Point} */ (geometry.coordinates.toReversed()));
    };
    const coarse = this.total > MANY ? await points(3) : [];
    return coarse.length < FEW_CELLS ? points(6) : coarse;
  }

  /** @param {string} bbox @param {number} zoom @param {AbortSignal} signal @returns {Promise<any[]>} features */
  async clusters(bbox, zoom, signal) {
    const query = new URLSearchParams(this.query);
    for (const name of OF_THE_LIST) query.delete(name);
    query.set("bbox", bbox);
    query.set("zoom", String(Math.floor(zoom)));
    return (await this.api.get("clusters", query, signal)).body.features;
  }

  /** @param {AbortSignal} signal @returns {Promise<Point[]>} where the nearest stores are */
  async nearest(signal) {
    const query = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries({ limit: String(NEAREST), fields: "latitude,longitude" })) query.set(name, value);
    const { body } = await this.api.get("stores", query, signal);
    const located = body.data.filter((/** @type {any} */ { latitude, longitude }) => latitude && longitude);
    return located.map((/** @type {any} */ { latitude, longitude }) => [Number(latitude), Number(longitude)]);
  }

  /**
   * Return the nearest stores in the circle one by one, as clusters have them.
   * @param {AbortSignal} signal
   * @returns {Promise<{features: any[], isCut: boolean}>} whether there are more
   */
  async inCircle(signal) {
    const query = new URLSearchParams(this.query);
    for (const name of ["sort_by", "sort_order", "page_num", "facets"]) query.delete(name);
    query.set("fields", "store_id,name,address_1,is_open,latitude,longitude");
    query.set("limit", String(this.api.mostStores));
    const { body } = await this.api.get("stores", query, signal);
    const features = body.data.map((/** @type {any} */ store) => ({
      geometry: { coordinates: [Number(store.longitude), Number(store.latitude)] },
      properties: { ...store, count: 1 },
    }));
    return { features, isCut: body.total_count > features.length };
  }

  /** @param {{lat: number, lng: number} | null} near @param {AbortSignal} signal @returns {Promise<any[]>} towns, the largest first */
  async towns(near, signal) {
    const query = new URLSearchParams({ q: "-", limit: MOST_TOWNS });
    for (const country of this.query.getAll("country")) query.append("country", country);
    if (near) query.set("near", `${near.lat.toFixed(2)},${near.lng.toFixed(2)}`);
    const { body } = await this.api.get("places", query, signal);
    const towns = body.data.filter((/** @type {any} */ { kind }) => kind === "city");
    return towns.sort((/** @type {any} */ one, /** @type {any} */ other) => other.stores - one.stores);
  }
}

export class Frame {
  constructor() {
    /** The longitude of its left edge. */
    this.west = LEFTS[0];
  }

  /** @param {number} edge the highest latitude @returns {[[number, number], [number, number]]} */
  bounds(edge) {
    return [[-edge, this.west], [edge, this.west + ALL_ROUND]];
  }

  /** @param {any} map @returns {View} what it shows, by the corner that stays when its size changes: in pixels, as it may be outside the world */
  view(map) {
    return { west: this.west, corner: map.getPixelBounds().min, zoom: map.getZoom() };
  }

  /** @param {any} map @param {View} view @returns {boolean} whether the map shows it */
  shows(map, { west, corner, zoom }) {
    return west === this.west && zoom === map.getZoom() && corner.distanceTo(map.getPixelBounds().min) < SAME_VIEW;
  }

  /** @param {number} longitude @returns {number} where the map has it */
  in(longitude) {
    return longitude < this.west ? longitude + ALL_ROUND : longitude;
  }

  /** @param {Point} point @returns {Point} where the map draws it */
  placed([latitude, longitude]) {
    return [latitude, this.in(longitude)];
  }

  /** @param {Box} box that of a query @returns {[Point, Point]} where the map draws its south-west and its north-east */
  corners([west, south, east, north]) {
    return [[south, this.in(west)], [north, east < west ? this.in(east) : east]];
  }

  /** @param {number[]} longitudes @returns {number} the left edge with which places are close together */
  narrowest(longitudes) {
    const [usual, other] = LEFTS.map((west) => {
      const placed = longitudes.map((each) => (each < west ? each + ALL_ROUND : each));
      return Math.max(...placed) - Math.min(...placed);
    });
    return other < MUCH_NARROWER * usual ? LEFTS[1] : LEFTS[0];
  }

  /**
   * Return the part of what the map shows that a query asks for.
   * @param {Box} shown
   * @param {string | null} bbox the box of the query
   * @returns {Box | null} null if there is none
   */
  within([west, south, east, north], bbox) {
    const wanted = bbox?.split(",").map(Number) ?? [this.west, -90, this.west + ALL_ROUND, 90];
    const left = this.in(wanted[0]);
    const right = wanted[2] < left ? wanted[2] + ALL_ROUND : wanted[2];
    /** @type {Box} */
    const box = [Math.max(west, left, this.west), Math.max(south, wanted[1]), Math.min(east, right, this.west + ALL_ROUND), Math.min(north, wanted[3])];
    return box[0] > box[2] || box[1] > box[3] ? null : box;
  }

  /** @param {Box} box @param {number} digits @returns {string} the value of `bbox`, across 180° if it must be */
  box([west, south, east, north], digits) {
    const isWhole = east - west >= ALL_ROUND;
    const left = isWhole ? -180 : turned(Math.max(west, this.west));
    const right = isWhole ? 180 : turned(Math.min(east, this.west + ALL_ROUND));
    return [left, south, right, north].map((each) => Number(each.toFixed(digits))).join(",");
  }
}

/** @param {number} longitude @returns {number} the same between -180 and 180 */
const turned = (longitude) => (longitude > 180 ? longitude - ALL_ROUND : longitude);
