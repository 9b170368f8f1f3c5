// Attributes as the OpenAPI document of a service has them. Run by test_explorer_modules.py, beside such documents.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { attributesOf, valueOf } from "./explorer/attributes.js";

process.env.TZ = "America/Vancouver";
globalThis.navigator ??= { language: "en-CA" }; // which Node has since 21
const { fieldLabel, formatDate } = await import("./explorer/strings.js");

const read = (name) => attributesOf(JSON.parse(readFileSync(new URL(name, import.meta.url), "utf-8")));
const declared = read("declared.json");
const namesOf = (attributes) => attributes.map(({ name }) => name);

test("they have the order and the kinds of their declaration", () => {
  assert.deepEqual(
    declared.map(({ name, kind }) => [name, kind]),
    [
      ...["text", "number", "flag", "list", "url", "email", "phone", "image", "date", "hours"].map((kind) => [`attributes.a_${kind}`, kind]),
      ["attributes.hidden", "text"],
    ],
  );
});

test("they have the label, the group and the place of their declaration", () => {
  const { label, group, show } = declared[declared.length - 1];
  assert.deepEqual([label, group, show], ["A label", "A group", "list"]);
  assert.deepEqual([declared[0].label, declared[0].group, declared[0].show], ["", "", "card"]);
});

test("texts, flags and lists that are counted have a menu", () => {
  const named = namesOf(declared.filter((each) => each.hasMenu));
  assert.deepEqual(named, ["attributes.a_text", "attributes.a_flag", "attributes.a_list"]);
});

test("a list is no order, and what is no filter is neither", () => {
  const others = ["attributes.a_hours", "attributes.hidden"];
  assert.deepEqual(namesOf(declared.filter((each) => !each.isSorted)), ["attributes.a_list", ...others]);
  assert.deepEqual(namesOf(declared.filter((each) => !each.isFilter)), others);
});

test("a service without attributes has none", () => assert.deepEqual(read("plain.json"), []));

test("a name becomes a label", () => {
  assert.equal(fieldLabel("attributes.opening_hours"), "Opening hours");
  assert.equal(fieldLabel("attributes.city"), "City");
  assert.equal(fieldLabel("unknown_name"), "unknown_name");
});

test("a value is that of a field or of an attribute", () => {
  const store = { city: "Bonn", attributes: { city: "Köln" } };
  assert.equal(valueOf(store, "city"), "Bonn");
  assert.equal(valueOf(store, "attributes.city"), "Köln");
  assert.equal(valueOf({}, "attributes.city"), undefined);
});

test("a date is the same day west of Greenwich", () => assert.match(formatDate("2019-02-01"), /Feb/));
