// Values of stores in words and as elements: those of fields, and of attributes by their kind.

import { element } from "./dom.js";
import { TEXT, countryName, formatDate, formatDay, formatDistance, formatPrecise } from "./strings.js";

const DATES = ["created_at", "updated_at"];
const WEB = /^https?:\/\//i;

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
