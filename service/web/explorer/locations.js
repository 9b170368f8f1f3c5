// Where the stores of a query are, as the map asks the service for it: points, clusters, towns.

const NEAREST = 10;
const MOST_TOWNS = "50";
/** With more stores, where they are is looked up in a coarser grid first, */
const MANY = 2000;
/** which is too coarse to show all of them if it has fewer cells. */
const FEW_CELLS = 16;
const WORLD = "-180,-85,180,85";
// What a request for clusters does not take.
const OF_THE_LIST = ["near", "radius", "bbox", "sort_by", "sort_order", "fields", "limit", "page_num", "facets", "zoom"];

/**
 * @typedef {import("./frame.js").Point} Point
 * @typedef {import("./frame.js").Box} Box
 */

export class Locations {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    /** That of the list. */
    this.query = new URLSearchParams();
    /** How many stores it has. */
    this.total = 0;
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
    const points = async (/** @type {number} */ zoom) =>
      (await this.clusters(WORLD, zoom, signal)).map(({ geometry }) => /** @type {Point} */ (geometry.coordinates.toReversed()));
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
