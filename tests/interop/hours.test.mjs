// Opening hours as pages show them. Run by test_explorer_modules.py, beside cases of the oracle.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

process.env.TZ = "America/Vancouver"; // which must not matter
globalThis.navigator ??= { language: "en-CA" }; // which Node has since 21
const { exceptionsSoon, openState, weekOf } = await import("./explorer/hours.js");

const hours = (week, exceptions = [], timezone = "Europe/Berlin") => ({
  timezone,
  hours: week.map((each) => {
    const [day, opens, closes] = each.split(" ");
    return { day, opens, closes };
  }),
  exception_hours: exceptions.map((each) => {
    const [valid_from, valid_through, opens, closes] = each.split(" ");
    return { valid_from, valid_through, ...(opens ? { opens, closes } : {}) };
  }),
});
const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const shop = hours(
  ["monday 09:00 12:30", "monday 14:00 18:00", "friday 20:00 02:00"],
  ["2026-12-24 2026-12-24 09:00 12:00", "2026-12-25 2026-12-26"],
);
const stateAt = (value, text) => {
  const { isOpen, change } = openState(value, new Date(text));
  return [isOpen, change && `${change.date} ${change.time} +${change.daysAhead}`];
};

test("a store is open at the instants at which the oracle says so", () => {
  const cases = JSON.parse(readFileSync(new URL("hours.json", import.meta.url), "utf-8"));
  assert.ok(cases.length > 100);
  for (const { value, instant, isOpen } of cases) {
    assert.equal(openState(value, new Date(instant)).isOpen, isOpen, `${instant} ${JSON.stringify(value)}`);
  }
});

test("it is open until it closes, also after midnight", () => {
  assert.deepEqual(stateAt(shop, "2026-11-23T09:00:00+01:00"), [true, "2026-11-23 12:30 +0"]);
  assert.deepEqual(stateAt(shop, "2026-11-27T23:00:00+01:00"), [true, "2026-11-28 02:00 +1"]);
  assert.deepEqual(stateAt(shop, "2026-11-28T01:59:59+01:00"), [true, "2026-11-28 02:00 +0"]);
});

test("it is closed until it opens, today or another day, past exceptions", () => {
  assert.deepEqual(stateAt(shop, "2026-11-23T12:30:00+01:00"), [false, "2026-11-23 14:00 +0"]);
  assert.deepEqual(stateAt(shop, "2026-11-28T02:00:00+01:00"), [false, "2026-11-30 09:00 +2"]);
  assert.deepEqual(stateAt(shop, "2026-12-24T12:00:00+01:00"), [false, "2026-12-28 09:00 +4"]);
});

test("an exception ends an interval of the day before at midnight, and intervals that touch are one", () => {
  const late = hours(DAYS.map((day) => `${day} 20:00 02:00`), ["2026-11-28 2026-11-28"]);
  assert.deepEqual(stateAt(late, "2026-11-27T23:00:00+01:00"), [true, "2026-11-28 00:00 +1"]);
  const long = hours(["friday 00:00 23:59", "saturday 00:00 12:00"]);
  assert.deepEqual(stateAt(long, "2026-11-27T08:00:00+01:00"), [true, "2026-11-28 12:00 +1"]);
});

test("what never closes or never opens has no change", () => {
  assert.deepEqual(stateAt(hours(DAYS.map((day) => `${day} 00:00 23:59`)), "2026-11-27T08:00:00Z"), [true, null]);
  assert.deepEqual(stateAt(hours([]), "2026-11-27T08:00:00Z"), [false, null]);
});

test("the week begins with today in the zone of the store", () => {
  const at = new Date("2026-11-27T12:00:00Z"); // Saturday in Kiritimati
  const dates = (zone) => weekOf(hours([], [], zone), at).map(({ date }) => date.slice(-2));
  assert.deepEqual(dates("Pacific/Kiritimati"), ["28", "29", "30", "01", "02", "03", "04"]);
  assert.equal(dates("America/New_York")[0], "27");
});

test("the week has the intervals of exceptions on their dates, and a whole date as it is served", () => {
  const week = weekOf(shop, new Date("2026-12-24T00:00:00+01:00"));
  assert.deepEqual(week[0], { date: "2026-12-24", intervals: [{ opens: "09:00", closes: "12:00" }] });
  assert.deepEqual(week.map(({ intervals }) => intervals.length), [1, 0, 0, 0, 2, 0, 0]);
  const whole = weekOf(hours(["friday 00:00 23:59", "saturday 18:00 00:00"]), new Date("2026-11-27T12:00:00Z"));
  assert.deepEqual(whole.slice(0, 2).map(({ intervals }) => intervals), [
    [{ opens: "00:00", closes: "23:59" }],
    [{ opens: "18:00", closes: "00:00" }],
  ]);
});

test("exceptions are those of the next 14 days, by range, also one that has begun", () => {
  const value = hours([], [
    "2026-11-01 2026-11-27",
    "2026-11-30 2026-11-30 09:00 12:00",
    "2026-11-30 2026-11-30 14:00 16:00",
    "2026-12-10 2026-12-31",
    "2026-12-11 2026-12-11",
  ]);
  value.exception_hours[2].title = "Inventory";
  assert.deepEqual(exceptionsSoon(value, new Date("2026-11-27T12:00:00Z")), [
    { first: "2026-11-01", last: "2026-11-27", title: "", intervals: [] },
    {
      first: "2026-11-30",
      last: "2026-11-30",
      title: "Inventory",
      intervals: [
        { opens: "09:00", closes: "12:00" },
        { opens: "14:00", closes: "16:00" },
      ],
    },
    { first: "2026-12-10", last: "2026-12-31", title: "", intervals: [] },
  ]);
});

test("a zone that is not known is a RangeError", () => {
  assert.throws(() => openState(hours([], [], "Europe/Nowhere"), new Date()), RangeError);
});
