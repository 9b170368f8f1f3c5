// Languages: texts, numbers, distances, dates, addresses. Run by test_explorer_modules.py.
import assert from "node:assert/strict";
import test from "node:test";
import { attributeText, destinationOf, directionsUrl, languageOf, pointOf, preferred } from "./embed/language.js";

const CODES = ["en", "de", "fr", "es", "it", "nl", "ja"];
const texts = Object.fromEntries(await Promise.all(CODES.map(async (code) => [code, (await import(`./embed/${code}.js`)).texts])));
const plain = (text) => text.replaceAll(/\s/gu, " ");

test("each language has each text, and those with a value show it", () => {
  const english = texts.en((count, one, many) => `${count} ${count === 1 ? one : many}`);
  for (const code of CODES) {
    const { TEXT } = languageOf(code, texts[code]);
    assert.deepEqual(Object.keys(TEXT), Object.keys(english), code);
    for (const [name, text] of Object.entries(TEXT)) {
      assert.equal(typeof text, typeof english[name], `${code}: ${name}`);
      if (typeof text === "function") assert.match(String(text(7)), /7/, `${code}: ${name}`);
      if (typeof text === "string") assert.ok(text.trim().length > 0, `${code}: ${name}`);
    }
    assert.deepEqual(Object.keys(TEXT.place), ["city", "postal_code", "postal_area"]);
  }
});

test("the first wanted language that there is is chosen, with the form of its country", () => {
  assert.deepEqual(preferred(["pl", "de", "de-CH"]), { code: "de", locale: "de-CH" });
  assert.deepEqual(preferred(["", "fr_CA", "en"]), { code: "fr", locale: "fr-CA" });
  for (const none of [[], ["pl"], ["not a tag"]]) assert.deepEqual(preferred(none), { code: "en", locale: "en" });
});

test("counts have the plural of their language", () => {
  const found = (code, count) => plain(languageOf(code, texts[code]).TEXT.found(count));
  assert.deepEqual([0, 1, 2].map((count) => found("en", count)), ["0 stores found", "1 store found", "2 stores found"]);
  assert.deepEqual([0, 1, 2].map((count) => found("fr", count)), ["0 magasin trouvé", "1 magasin trouvé", "2 magasins trouvés"]);
  assert.equal(found("de", 1234), "1.234 Filialen gefunden");
  assert.equal(plain(languageOf("de", texts.de).TEXT.nearestFirst(1234)), "1.234 Filialen, die nächsten zuerst");
});

test("distances are in the unit of the country, or in the one that is wanted", () => {
  const distance = (metres, ...locale) => plain(languageOf("en", texts.en, ...locale).formatDistance(metres));
  assert.equal(distance(1609.344, "en-US"), "1 mi");
  assert.equal(distance(1500, "en-CA"), "1.5 km");
  assert.equal(distance(25_400, "de"), "25 km");
  assert.equal(distance(1609.344, "en-CA", "mi"), "1 mi");
  assert.equal(distance(5000, "en-US", "km"), "5 km");
});

test("addresses are in the order of their country", () => {
  const lines = (store) => languageOf("en", texts.en).addressLines(store);
  const own = { address_1: "1 Main St", address_2: null, city: "Köln", province: "NW", postal_code: "50667", country: "DE" };
  assert.deepEqual(lines(own), ["1 Main St", "50667 Köln", "Germany"]);
  assert.deepEqual(lines({ ...own, city: "Ottawa", province: "ON", country: "CA" }), ["1 Main St", "Ottawa, ON 50667", "Canada"]);
  assert.deepEqual(lines({ ...own, address_1: "丸の内1-1", city: "千代田区", province: "東京都", postal_code: "100-0005", country: "JP" }), ["〒100-0005", "東京都千代田区丸の内1-1", "Japan"]);
});

test("points are places on Earth, else the address is where the way ends", () => {
  assert.deepEqual(pointOf({ latitude: " 43.5", longitude: "-79" }), [43.5, -79]);
  for (const latitude of ["", null, "91", "north"]) assert.equal(pointOf({ latitude, longitude: "0" }), null);
  assert.equal(destinationOf({ latitude: "43.5", longitude: "-79" }, "there"), "43.5,-79");
  assert.equal(destinationOf({}, "1 Main St, Köln"), "1 Main St, Köln");
  assert.equal(directionsUrl({}, "a & b", "Linux"), "https://www.google.com/maps/dir/?api=1&destination=a%20%26%20b");
  assert.match(directionsUrl({}, "a", "iPhone"), /^https:\/\/maps\.apple\.com\//);
});

test("values of attributes are written by their kind", () => {
  const german = languageOf("de", texts.de);
  assert.equal(attributeText("flag", false, german), "Nein");
  assert.equal(attributeText("number", 1234.5, german), "1.234,5");
  assert.equal(attributeText("list", ["a", "b"], german), "a, b");
  assert.equal(attributeText("date", "2026-03-04", german), "04.03.2026");
  assert.equal(attributeText("text", "x", german), "x");
});
