// Words as docs/interface.md describes them. Run by test_explorer_modules.py, beside a copy of the module.
import assert from "node:assert/strict";
import test from "node:test";
import { filtered, folded, wordsOf } from "./explorer/words.js";

test("case, accents and apostrophes do not matter", () => {
  assert.equal(folded("Montréal"), "montreal");
  assert.equal(folded("McDonald’s"), "mcdonalds");
  assert.equal(folded("ＡＢＣ"), "abc");
});

test("voicing marks of Kana do", () => assert.notEqual(folded("ガ"), folded("カ")));

test("filters take values as one that differ in case and white space, not in accents", () => {
  assert.equal(filtered(" TORONTO  West"), "toronto west");
  assert.equal(filtered("STRASSE"), filtered("Straße"));
  assert.notEqual(filtered("Montréal"), filtered("Montreal"));
  assert.notEqual(filtered("O'Fallon"), filtered("OFallon"));
});

test("the last word may be the beginning of one, unless a space follows", () => {
  assert.deepEqual(wordsOf("acme tor"), { whole: new Set(["acme", "tor"]), start: "tor", parts: [] });
  assert.equal(wordsOf("acme tor ").start, "");
});

test("a run of characters without spaces may be a part", () => assert.deepEqual(wordsOf("駅前").parts, ["駅前"]));

test("without a word there is nothing to mark", () => assert.equal(wordsOf("!!"), null));
