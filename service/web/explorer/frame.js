// Where the flat map cuts the world: at 180°, or at 0° if stores are on both sides of the Pacific.

const WORLD = 360;
const LEFTS = [-180, 0];
/** A map that begins at 0° shows stores in less than this share of the other's width. */
const MUCH_NARROWER = 0.75;

/**
 * @typedef {[number, number]} Point latitude and longitude
 * @typedef {[number, number, number, number]} Box west, south, east, north
 */

export class Frame {
  constructor() {
    /** The longitude of its left edge. */
    this.west = LEFTS[0];
  }

  /** @param {number} edge the highest latitude @returns {[[number, number], [number, number]]} */
  bounds(edge) {
    return [[-edge, this.west], [edge, this.west + WORLD]];
  }

  /** @param {number} longitude @returns {number} where the map has it */
  in(longitude) {
    return longitude < this.west ? longitude + WORLD : longitude;
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
      const placed = longitudes.map((each) => (each < west ? each + WORLD : each));
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
    const wanted = bbox?.split(",").map(Number) ?? [this.west, -90, this.west + WORLD, 90];
    const left = this.in(wanted[0]);
    const right = wanted[2] < left ? wanted[2] + WORLD : wanted[2];
    /** @type {Box} */
    const box = [Math.max(west, left, this.west), Math.max(south, wanted[1]), Math.min(east, right, this.west + WORLD), Math.min(north, wanted[3])];
    return box[0] > box[2] || box[1] > box[3] ? null : box;
  }

  /** @param {Box} box @param {number} digits @returns {string} the value of `bbox`, across 180° if it must be */
  box([west, south, east, north], digits) {
    const isWhole = east - west >= WORLD;
    const left = isWhole ? -180 : turned(Math.max(west, this.west));
    const right = isWhole ? 180 : turned(Math.min(east, this.west + WORLD));
    return [left, south, right, north].map((each) => Number(each.toFixed(digits))).join(",");
  }
}

/** @param {number} longitude @returns {number} the same between -180 and 180 */
const turned = (longitude) => (longitude > 180 ? longitude - WORLD : longitude);
