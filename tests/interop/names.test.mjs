// The names on the map. Run by test_explorer_modules.py, beside the modules.
import assert from "node:assert/strict";
import test from "node:test";

globalThis.navigator ??= { language: "en-CA" }; // which Node has since 21
const { withRoom } = await import("./explorer/names.js");

const town = (text, x, y) => ({ kind: "town", text, x, y });
const shown = (names, circles = []) => withRoom(names, circles, 300).map(({ text, down }) => `${text} ${down}`);

test("of names that would overlap the first is shown", () => {
  assert.deepEqual(shown([town("Bath", 100, 100), town("Wells", 110, 105), town("York", 100, 140)]), ["Bath 20", "York 20"]);
});

test("the name of a town is below its point, that of a country at it", () => {
  assert.deepEqual(shown([{ kind: "country", text: "Malta", x: 50, y: 0 }, town("Rome", 200, 0)]), ["Malta 0", "Rome 20"]);
});

test("a name that a mark would cover is below the mark", () => {
  assert.deepEqual(shown([town("Bath", 100, 100)], [{ x: 100, y: 100, radius: 25 }]), ["Bath 32.5"]);
});

test("without room there it is above, and without room there, too, there is no name", () => {
  const marks = [{ x: 100, y: 100, radius: 25 }, { x: 100, y: 140, radius: 14 }];
  assert.deepEqual(shown([town("Bath", 100, 100)], marks), ["Bath -32.5"]);
  assert.deepEqual(shown([town("Bath", 100, 100)], [...marks, { x: 100, y: 60, radius: 14 }]), []);
});

test("a name that the edge of the map would cut is left out", () => {
  assert.deepEqual(shown([town("Bath", 10, 100), town("York", 250, 100), town("Wells", 295, 140)]), ["York 20"]);
});
