// The opening hours of a store in words: whether it is open, today, the week, exceptions. Loaded where stores have hours.

import { element } from "./dom.js";
import { exceptionsSoon, openState, weekOf } from "./hours.js";
import { TEXT, formatDate, formatTime, formatWeekday } from "./strings.js";

const TOMORROW = 1;
const SAME_WEEK = 6;

/**
 * @typedef {import("./hours.js").OpeningHours} OpeningHours
 * @typedef {import("./hours.js").Change} Change
 */

/** @param {Change} change @returns {string} when it is, as short as can be */
function when({ date, time, daysAhead }) {
  if (daysAhead === 0) return formatTime(time);
  const day = daysAhead === TOMORROW ? TEXT.tomorrow : daysAhead <= SAME_WEEK ? formatWeekday(date) : formatDate(date);
  return `${day} ${formatTime(time)}`;
}

/** @param {OpeningHours} hours @param {Date} now @returns {{isOpen: boolean, text: string}} */
export function openWords(hours, now) {
  const { isOpen, change } = openState(hours, now);
  if (isOpen) return { isOpen, text: change ? TEXT.openUntil(when(change)) : TEXT.open };
  return { isOpen, text: change ? TEXT.opens(when(change)) : TEXT.closed };
}

/** @param {{opens: string, closes: string}[]} intervals of a day @returns {string} */
function intervalsText(intervals) {
  if (!intervals.length) return TEXT.closed;
  return intervals
    .map(({ opens, closes }) => (opens === "00:00" && closes === "23:59" ? TEXT.allDay : `${formatTime(opens)}–${formatTime(closes)}`))
    .join(", ");
}

/**
 * Return whether a store is open, and its hours of the next days.
 * @param {OpeningHours} hours
 * @param {Date} now
 * @returns {{badge: HTMLElement, week: HTMLElement} | null} null if the browser does not know the time zone
 */
export function openingParts(hours, now) {
  try {
    const { isOpen, text } = openWords(hours, now);
    const week = weekOf(hours, now);
    const rows = week.flatMap(({ date, intervals }) => [element("dt", {}, formatWeekday(date)), element("dd", {}, intervalsText(intervals))]);
    const exceptions = exceptionsSoon(hours, now).flatMap(({ first, last, title, intervals }) => [
      element("dt", {}, first === last ? formatDate(first) : `${formatDate(first)}–${formatDate(last)}`, title ? ` ${title}` : null),
      element("dd", {}, intervalsText(intervals)),
    ]);
    return {
      badge: element("span", { class: `badge ${isOpen ? "open" : "closed"}` }, text),
      week: element(
        "details",
        { class: "details" },
        element("summary", {}, TEXT.today(intervalsText(week[0].intervals))),
        element("dl", {}, ...rows),
        exceptions.length ? element("h3", {}, TEXT.exceptions) : null,
        exceptions.length ? element("dl", {}, ...exceptions) : null,
      ),
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
