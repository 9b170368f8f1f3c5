// Values of stores in words and as elements: those of fields, and of attributes by their kind.

import { element } from "./dom.js";
import { attributeText } from "./language.js";
import { LANGUAGE, TEXT, countryName, formatDay, formatDistance } from "./strings.js";

const DATES = ["created_at", "updated_at"];

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
export const formatAttribute = (kind, value) => (value === null || value === undefined ? TEXT.none : attributeText(kind, value, LANGUAGE));

/** @param {boolean | null} isOpen @returns {HTMLElement} whether a store is open, not by colour alone */
export function statusBadge(isOpen) {
  const kind = isOpen === null ? "" : isOpen ? "open" : "closed";
  return element("span", { class: `badge ${kind}` }, formatValue("is_open", isOpen));
}
