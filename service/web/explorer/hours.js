// Opening hours as pages show them, worked out from what a store has, in its own time: the next days, exceptions, whether it is
// open; and in words. Loaded where stores have hours.

import { badge, element } from "./dom.js";

/**
 * @typedef {"monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday"} Day
 * @typedef {{opens: string, closes: string}} Interval
 * @typedef {{valid_from: string, valid_through: string, opens?: string, closes?: string, title?: string}} ExceptionHour
 * @typedef {{timezone: string, hours: (Interval & {day: Day})[], exception_hours: ExceptionHour[]}} OpeningHours
 * @typedef {{date: string, intervals: Interval[]}} OpenDay the intervals that begin on a date, none if it is closed
 * @typedef {{first: string, last: string, title: string, intervals: Interval[]}} OpenException the dates of a range
 * @typedef {{date: string, time: string, daysAhead: number}} Change when a store opens or closes
 * @typedef {{isOpen: boolean, change: Change | null}} OpenState the next change, null if none is known
 * @typedef {import("./language.js").Language} Language
 * @typedef {{begins: number, ends: number}} Span local minutes since 1970
 */

/** @type {Day[]} */
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DAY = 24 * 60; // minutes
const DAY_MS = DAY * 60_000;
const FIRST_WEEKDAY = 3; // 1970 began on a Thursday
const WEEK = 7; // days
const SOON = 14;
const AHEAD = 366; // days in which a store that is closed may open
const TOMORROW = 1;
const SAME_WEEK = 6;

/**
 * Return the next seven dates of a store, today first, with the intervals that begin on each.
 * @param {OpeningHours} hours
 * @param {Date} instant
 * @returns {OpenDay[]}
 */
export function weekOf(hours, instant) {
  const today = dateIn(clockIn(hours.timezone, instant));
  return Array.from({ length: WEEK }, (_, ahead) => {
    const intervals = spansOf(hours, today + ahead).map(({ begins, ends }) => ({ opens: timeOf(begins), closes: closingOf(begins, ends) }));
    return { date: isoOf(today + ahead), intervals };
  });
}

/**
 * Return the exceptions of the next 14 days, of which some may have begun before.
 * @param {OpeningHours} hours
 * @param {Date} instant
 * @returns {OpenException[]} by date
 */
export function exceptionsSoon(hours, instant) {
  const today = dateIn(clockIn(hours.timezone, instant));
  const [first, last] = [isoOf(today), isoOf(today + SOON - 1)];
  /** @type {Map<string, OpenException>} */
  const found = new Map();
  for (const { valid_from, valid_through, opens, closes, title = "" } of hours.exception_hours) {
    if (valid_through < first || valid_from > last) continue;
    const range = found.get(valid_from) ?? { first: valid_from, last: valid_through, title, intervals: [] };
    if (opens && closes) range.intervals.push({ opens, closes });
    range.title ||= title;
    found.set(valid_from, range);
  }
  return [...found.values()];
}

/**
 * Return whether a store is open in the minute of an instant, and until when, or when it opens.
 * @param {OpeningHours} hours
 * @param {Date} instant
 * @returns {OpenState}
 */
export function openState(hours, instant) {
  const now = clockIn(hours.timezone, instant);
  let end = endOf(hours, now);
  if (end === null) {
    const next = Array.from({ length: AHEAD }, (_, ahead) => dateIn(now) + ahead)
      .flatMap((day) => spansOf(hours, day))
      .find(({ begins }) => begins > now);
    return { isOpen: false, change: next ? changeAt(next.begins, now) : null };
  }
  for (let later = endOf(hours, end); later !== null && end < now + (WEEK + 1) * DAY; later = endOf(hours, end)) end = later;
  return { isOpen: true, change: end < now + (WEEK + 1) * DAY ? changeAt(end, now) : null };
}

/** @param {OpeningHours} hours @param {number} clock @returns {number | null} when what is open then ends */
function endOf(hours, clock) {
  const spans = [...spansOf(hours, dateIn(clock) - 1), ...spansOf(hours, dateIn(clock))];
  const running = spans.filter(({ begins, ends }) => begins <= clock && clock < ends);
  return running.length ? Math.max(...running.map(({ ends }) => ends)) : null;
}

/** @param {OpeningHours} hours @param {number} day @returns {Span[]} what begins on a date, without what the next one's exception cuts */
function spansOf(hours, day) {
  const exceptions = exceptionsOf(hours, day);
  const isCut = !exceptions.length && exceptionsOf(hours, day + 1).length > 0;
  const listed = exceptions.length ? exceptions : hours.hours.filter((each) => each.day === weekdayOf(day));
  return listed.flatMap(({ opens, closes }) => {
    if (!opens || !closes) return [];
    const isWhole = opens === "00:00" && closes === "23:59";
    const ends = isWhole ? DAY : minutesOf(closes) + (closes < opens ? DAY : 0);
    return [{ begins: day * DAY + minutesOf(opens), ends: day * DAY + (isCut ? Math.min(ends, DAY) : ends) }];
  });
}

/** @param {OpeningHours} hours @param {number} day */
function exceptionsOf(hours, day) {
  const date = isoOf(day);
  return hours.exception_hours.filter((each) => each.valid_from <= date && date <= each.valid_through);
}

/** @param {number} clock @param {number} now @returns {Change} */
const changeAt = (clock, now) => ({ date: isoOf(dateIn(clock)), time: timeOf(clock), daysAhead: dateIn(clock) - dateIn(now) });

/** @param {string} timeZone @param {Date} instant @returns {number} what the clock of a zone shows; a RangeError if it is unknown */
function clockIn(timeZone, instant) {
  /** @type {Intl.DateTimeFormatOptions} */
  const shown = { timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" };
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en", shown).formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute) / 60_000;
}

const dateIn = (/** @type {number} */ clock) => Math.floor(clock / DAY);
const isoOf = (/** @type {number} */ day) => new Date(day * DAY_MS).toISOString().slice(0, 10);
const weekdayOf = (/** @type {number} */ day) => DAYS[(((day + FIRST_WEEKDAY) % WEEK) + WEEK) % WEEK];
const minutesOf = (/** @type {string} */ time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const timeOf = (/** @type {number} */ clock) => new Date(clock * 60_000).toISOString().slice(11, 16);
/** A whole date is written as it is served. @param {number} begins @param {number} ends */
const closingOf = (begins, ends) => (ends - begins === DAY && begins % DAY === 0 ? "23:59" : timeOf(ends));

/** @param {Change} change @param {Language} language @returns {string} when it is, as short as can be */
function when({ date, time, daysAhead }, { TEXT, formatDate, formatTime, formatWeekday }) {
  if (daysAhead === 0) return formatTime(time);
  const day = daysAhead === TOMORROW ? TEXT.tomorrow : daysAhead <= SAME_WEEK ? formatWeekday(date) : formatDate(date);
  return `${day} ${formatTime(time)}`;
}

/** @param {OpenState} state @param {Language} language @returns {string} */
function stateText({ isOpen, change }, language) {
  const { open, openUntil, closed, opens } = language.TEXT;
  if (change === null) return isOpen ? open : closed;
  return (isOpen ? openUntil : opens)(when(change, language));
}

/** @param {Interval[]} intervals of a day @param {Language} language @returns {string} */
function intervalsText(intervals, { TEXT, formatTime }) {
  if (!intervals.length) return TEXT.closed;
  return intervals
    .map(({ opens, closes }) => (opens === "00:00" && closes === "23:59" ? TEXT.allDay : `${formatTime(opens)}–${formatTime(closes)}`))
    .join(", ");
}

/**
 * Return whether a store is open, and its hours of the next days.
 * @param {OpeningHours} hours
 * @param {Date} now
 * @param {Language} language
 * @returns {{badge: HTMLElement, week: HTMLElement} | null} null if the browser does not know the time zone
 */
export function openingParts(hours, now, language) {
  const { TEXT, formatDate, formatWeekday } = language;
  try {
    const state = openState(hours, now);
    const week = weekOf(hours, now);
    const rows = week.flatMap(({ date, intervals }) => [element("dt", {}, formatWeekday(date)), element("dd", {}, intervalsText(intervals, language))]);
    const exceptions = exceptionsSoon(hours, now).flatMap(({ first, last, title, intervals }) => [
      element("dt", {}, first === last ? formatDate(first) : `${formatDate(first)}–${formatDate(last)}`, title ? ` ${title}` : null),
      element("dd", {}, intervalsText(intervals, language)),
    ]);
    return {
      badge: badge(state.isOpen, stateText(state, language)),
      week: element(
        "details",
        { class: "details" },
        element("summary", {}, TEXT.today(intervalsText(week[0].intervals, language))),
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
