// Conditions from one end to the other: numbers and days of attributes, the time of changes, the time of opening.

import { minuteOf } from "./api.js";
import { element } from "./dom.js";
import { TEXT, fieldLabel, formatDate, formatMoment, formatPrecise } from "./strings.js";

const OPEN = "..";
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {import("./state.js").State} State
 */

/** @param {string} value @returns {[string, string]} the ends of an interval, empty where it is open; a value is both */
export function ends(value) {
  const [from, to = from] = value.split("/").map((end) => (end === OPEN ? "" : end));
  return [from, to];
}

/** @param {string} from @param {string} to @returns {string} the value of a filter; empty for no condition */
export function interval(from, to) {
  if (from === to) return from;
  return `${from || OPEN}/${to || OPEN}`;
}

/** @param {string} end @returns {string} an end in words */
const inWords = (end) =>
  DAY.test(end) ? formatDate(end) : /T/.test(end) ? formatMoment(new Date(end)) : end && !Number.isNaN(Number(end)) ? formatPrecise(Number(end)) : end;

/** @param {string} value @returns {string} an interval in words */
export function intervalText(value) {
  const [from, to] = ends(value).map(inWords);
  return from === to ? from : TEXT.between(from, to);
}

/** @param {string} label @param {Record<string, any>} attributes @returns {HTMLElement} a field with its label */
const field = (label, attributes) => element("label", { class: "field" }, element("span", {}, label), element("input", attributes));

/**
 * Return the fields for the ends of an attribute.
 * @param {Attribute} attribute
 * @param {State} state
 * @returns {HTMLElement}
 */
export function rangeFields({ name, kind }, state) {
  const label = fieldLabel(name);
  const [from, to] = state.get(name) ? ends(state.get(name)) : ["", ""];
  const type = kind === "date" ? { type: "date" } : { type: "text", inputmode: "decimal" };
  const onchange = (/** @type {Event} */ event) => {
    const both = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("input")].map((input) => input.value.trim());
    setTimeout(() => state.set({ [name]: interval(both[0], both[1]) })); // when the focus is in the next field
  };
  return element(
    "div",
    { class: "range-fields", role: "group", "aria-label": label, onchange },
    element("span", { class: "legend", "aria-hidden": "true" }, label),
    field(TEXT.from, { ...type, value: from }),
    field(TEXT.to, { ...type, value: to }),
  );
}

/** @param {State} state @returns {HTMLElement} the field for stores that changed since a day */
export function changedField(state) {
  const value = ends(state.get("updated_at"))[0].slice(0, 10);
  const onchange = (/** @type {any} */ event) => state.set({ updated_at: event.target.value ? interval(event.target.value, "") : "" });
  return field(TEXT.changedSince, { type: "date", value: DAY.test(value) ? value : "", onchange });
}

/** @param {State} state @returns {HTMLElement} the field for stores that are open at a time of the visitor's clock */
export function openAtField(state) {
  const asked = new Date(state.get("open_at"));
  const local = Number.isNaN(asked.getTime()) ? "" : new Date(asked.getTime() - asked.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  const onchange = (/** @type {any} */ event) => state.set({ open_at: event.target.value ? minuteOf(new Date(event.target.value)) : "" });
  return field(TEXT.openAt, { type: "datetime-local", value: local, onchange });
}
