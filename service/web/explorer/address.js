// Addresses of stores: their lines in the order of the country, and links to the visitor's map.

import { countryName } from "./strings.js";

// Where the postal code comes before the city, by country; elsewhere it comes last.
const CODE_FIRST =
  "AD AL AM AR AT BA BE BG BR CH CL CR CU CY CZ DE DK DO DZ EC EE EG ES ET FI FO FR GE GL GR GT HN HR HT HU IL IS IT KG KW KZ LA LI LT LU LV MA MC MD ME MG MK MT MX MZ NI NL NO PL PT PY RE RO RS SE SI SK SM SN SV TJ TN TR UA UY VA XK ZM";
/** Countries that write the largest part first. */
const LARGEST_FIRST = "CN JP KR TW";
/** Where the province is a part of the address. */
const WITH_PROVINCE = "AU BR CA CN ES IN IT JP KR MX MY NG TW US";

/**
 * Return the latitude and longitude of a store.
 * @param {Record<string, any>} store
 * @returns {[number, number] | null} null if it has none
 */
export function pointOf(store) {
  const [latitude, longitude] = [store.latitude, store.longitude].map((text) => (text?.trim() ? Number(text) : NaN));
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? [latitude, longitude] : null;
}

/** @param {string} list @param {string} country @returns {boolean} */
const isIn = (list, country) => list.split(" ").includes(country);

/**
 * Return the lines of the address of a store.
 * @param {Record<string, any>} store
 * @returns {string[]}
 */
export function addressLines(store) {
  const { address_1, address_2, city, province, postal_code, country } = store;
  const code = (country ?? "").toUpperCase();
  const isKnown = /^[A-Z]{2}$/.test(code);
  const shown = province && (!isKnown || isIn(WITH_PROVINCE, code)) && province !== city ? province : "";
  const name = country ? countryName(country) : "";
  if (isIn(LARGEST_FIRST, code)) {
    const town = [shown, city].filter(Boolean).join(isAsian(city) ? "" : ", ");
    const lines = [postal_code && (code === "JP" ? `〒${postal_code}` : postal_code), town + (isAsian(town) && isAsian(address_1) ? address_1 : "")];
    return [...lines, isAsian(town) && isAsian(address_1) ? "" : address_1, address_2, name].filter(Boolean);
  }
  return [address_1, address_2, townLine(code, city, shown, postal_code), name].filter(Boolean);
}

/** @param {string} code @param {string} city @param {string} province @param {string | null} postalCode @returns {string} */
function townLine(code, city, province, postalCode) {
  if (isIn(CODE_FIRST, code)) {
    return [postalCode, city].filter(Boolean).join(" ") + (province ? `, ${province}` : "");
  }
  const region = [province, postalCode].filter(Boolean).join(" ");
  return [city, region].filter(Boolean).join(["AU", "GB", "NZ"].includes(code) ? " " : ", ");
}

/** @param {string | null} text @returns {boolean} whether it is in a script without spaces */
const isAsian = (text) => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text ?? "");

/**
 * Return the link to the way to a store, on the map that devices of its visitor have.
 * @param {Record<string, any>} store
 * @param {string} [device] how the browser names itself
 * @returns {string}
 */
export function directionsUrl(store, device = navigator.userAgent) {
  const point = pointOf(store);
  const to = encodeURIComponent(point === null ? addressLines(store).join(", ") : point.join(","));
  return /iPhone|iPad|Macintosh/.test(device)
    ? `https://maps.apple.com/?daddr=${to}`
    : `https://www.google.com/maps/dir/?api=1&destination=${to}`;
}
