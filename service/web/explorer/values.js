// Values of stores in words and as elements: those of fields, of attributes by their kind, addresses and the way there.

import { element } from "./dom.js";
import { TEXT, countryName, formatDate, formatDay, formatDistance, formatPrecise } from "./strings.js";

const DATES = ["created_at", "updated_at"];
const WEB = /^https?:\/\//i;
// Where the postal code comes before the city, by country; elsewhere it comes last.
const CODE_FIRST =
  "AD AL AM AR AT BA BE BG BR CH CL CR CU CY CZ DE DK DO DZ EC EE EG ES ET FI FO FR GE GL GR GT HN HR HT HU IL IS IT KG KW KZ LA LI LT LU LV MA MC MD ME MG MK MT MX MZ NI NL NO PL PT PY RE RO RS SE SI SK SM SN SV TJ TN TR UA UY VA XK ZM";
/** Countries that write the largest part first. */
const LARGEST_FIRST = "CN JP KR TW";
/** Where the province is a part of the address. */
const WITH_PROVINCE = "AU BR CA CN ES IN IT JP KR MX MY NG TW US";

/** @typedef {import("./attributes.js").Kind} Kind */

/** @param {string} name @param {any} value @returns {string} a value of a record in words */
export function formatValue(name, value) {
  if (value === null || value === undefined || value === "") return TEXT.none;
  if (name === "is_open") return value ? TEXT.open : TEXT.closed;
  if (name === "distance") return formatDistance(value);
  if (name === "country") return countryName(value);
  if (DATES.includes(name)) {
    const date = new Date(value);
    return Number.isNaN(date.getTime()) ? String(value) : formatDay(date);
  }
  return String(value);
}

/** @param {Kind | undefined} kind @param {any} value @returns {string} that of an attribute */
export function formatAttribute(kind, value) {
  if (value === null || value === undefined) return TEXT.none;
  if (kind === "flag") return value ? TEXT.yes : TEXT.no;
  if (kind === "number") return formatPrecise(value);
  if (kind === "date") return formatDate(value);
  return kind === "list" ? value.join(", ") : value;
}

/** @param {boolean | null} isOpen @returns {HTMLElement} whether a store is open, not by colour alone */
export function statusBadge(isOpen) {
  const kind = isOpen === null ? "" : isOpen ? "open" : "closed";
  return element("span", { class: `badge ${kind}` }, formatValue("is_open", isOpen));
}

/** @param {string} number @returns {string} the URL that calls a number, of several the first */
export const callUrl = (number) => `tel:${number.split(/[;/]|ext/i)[0].replace(/[^+\d]/g, "")}`;

/** @param {string} href @param {string} text @param {Record<string, any>} [more] @returns {HTMLElement} a link to another site */
export function siteLink(href, text, more = {}) {
  return element("a", { href, rel: "noopener noreferrer", target: "_blank", ...more }, text);
}

/** @param {string} url @returns {string} a URL as people write it */
const shortUrl = (url) => url.replace(WEB, "").replace(/\/$/, "");

/**
 * Return an attribute as a card shows it: links, calls, pictures from origins that may be shown.
 * @param {Kind} kind
 * @param {any} value
 * @param {string} label
 * @param {string[]} images origins
 * @returns {Node | string}
 */
export function attributeNode(kind, value, label, images) {
  if (kind === "list") {
    return element("ul", { class: "items" }, ...value.map((/** @type {string} */ each) => element("li", {}, each)));
  }
  if (kind === "email") return element("a", { href: `mailto:${encodeURIComponent(value).replace("%40", "@")}` }, value);
  if (kind === "phone") return element("a", { href: callUrl(value) }, value);
  if (kind === "image" && images.includes(originOf(value))) {
    return element("img", { src: value, alt: label, loading: "lazy", referrerpolicy: "no-referrer" });
  }
  return (kind === "url" || kind === "image") && WEB.test(value)
    ? siteLink(value, shortUrl(value), { title: value })
    : formatAttribute(kind, value);
}

/** @param {string} url @returns {string} its origin, empty if it is no URL */
function originOf(url) {
  return URL.canParse(url) ? new URL(url).origin : "";
}

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
