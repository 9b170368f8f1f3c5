// What <store-locator> is made of: its style, its frame, the items of the list, the card.

import { attributeNode, badge, callUrl, element, siteLink } from "./dom.js";
import { attributeText, destinationOf } from "./language.js";

const DIRECTIONS = "https://www.google.com/maps/dir/?api=1&destination={destination}";

/**
 * @typedef {Record<string, any>} Store
 * @typedef {import("./language.js").Language} Language
 * @typedef {{name: string, kind: import("./attributes.js").Kind, label: string, show: string}} Attribute
 * @typedef {{attributes: Attribute[], tiles: string, attribution: string, images: string[]}} Service what a service
 *   tells of its stores and its map
 * @typedef {{language: Language, service: Service, hours: string,
 *   openingParts: typeof import("./hours.js").openingParts | null, host: import("./store-locator.js").StoreLocator}} Shown how
 *   stores are shown; the name of the attribute with opening hours
 * @typedef {{onLocate: () => void, onOpenNow: () => void, onRadius: (radius: string) => void, onForget: () => void,
 *   onMore: () => void, onClose: () => void}} Actions
 */

/** What a service that tells nothing of itself has: the requests for stores say why. @type {Service} */
export const UNKNOWN = { attributes: [], tiles: "", attribution: "", images: [] };

export const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`
:host { display: block; position: relative; height: 36rem; container-type: inline-size; }
:host([hidden]) { display: none; }
.locator {
  all: initial; position: absolute; inset: 0; display: grid; grid-template-rows: auto auto minmax(0, 1fr); overflow: hidden;
  --accent: var(--store-locator-accent, #0f6b5c); --text: var(--store-locator-text, #1b2329); --raised: var(--store-locator-background, #fff);
  --corner: var(--store-locator-radius, 8px); --on-accent: #fff; --muted: color-mix(in srgb, var(--text) 72%, var(--raised));
  --line: color-mix(in srgb, var(--text) 18%, var(--raised)); --soft: color-mix(in srgb, var(--text) 5%, var(--raised)); --edge: var(--muted);
  --open: var(--accent); --closed: #9c3d22; --mark: var(--accent); --shadow: 0 6px 24px rgb(20 30 40 / 18%);
  font-family: var(--store-locator-font, inherit); font-size: clamp(16px, 1rem, 20px); line-height: 1.45; color: var(--text); background: var(--raised); border-radius: var(--corner);
}
@media (prefers-color-scheme: dark) {
  :host([theme="auto"]) .locator {
    --accent: color-mix(in srgb, var(--store-locator-accent, #0f6b5c) 45%, #fff); --on-accent: #0b1215; --closed: #f0977a; color-scheme: dark;
    --text: var(--store-locator-text, #e7ecef); --raised: var(--store-locator-background, #1c2328);
  }
}
*, *::before { box-sizing: border-box; }
[hidden], .with-card > :not(.card) { display: none !important; }
h2, h3, p, dl, dd, ol, ul { margin: 0; padding: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.small, .status, .more, .kind, .count { color: var(--muted); font-size: .875em; }
.search, .buttons { display: flex; flex-wrap: wrap; gap: 8px; }
.search { padding: 4px 4px 8px; }
.box { position: relative; flex: 1 1 10em; }
input, select, button, .button { font: inherit; color: inherit; min-height: 44px; padding: 0 12px; border: 1px solid var(--edge); border-radius: var(--corner); background: var(--raised); }
input { width: 100%; text-overflow: ellipsis; }
button, .button { display: inline-flex; align-items: center; gap: 6px; cursor: pointer; text-decoration: none; border-color: var(--line); }
button:hover, .button:hover { background: var(--soft); }
.primary, [aria-pressed="true"] { background: var(--accent) !important; color: var(--on-accent); border-color: var(--accent); }
.suggestions { position: absolute; z-index: 2; top: 100%; inset-inline-start: 0; min-width: 100%; width: max-content; max-width: 90cqw; margin-top: 4px; padding: 4px; list-style: none; background: var(--raised); border: 1px solid var(--line); border-radius: var(--corner); box-shadow: var(--shadow); }
.suggestion { display: flex; gap: 8px; padding: 8px; cursor: pointer; border-radius: var(--corner); }
.suggestion .what { flex: 1; }
.suggestion:hover, .suggestion[aria-selected="true"] { background: var(--soft); }
.suggestion[aria-selected="true"] { outline: 2px solid var(--accent); outline-offset: -2px; }
.locator > .buttons { align-items: center; min-height: 52px; padding: 0 4px 8px; }
.status { flex: 1; padding: 0 10px; }
.body { display: grid; min-height: 0; border: 1px solid var(--line); border-radius: var(--corner); overflow: hidden; }
.side { position: relative; overflow: auto; overscroll-behavior: contain; }
.side[aria-busy] .list { opacity: .6; }
.map { display: none; position: relative; background: var(--map-sea, var(--soft)); font: inherit; z-index: 0; }
.with-map .map { display: block; }
.with-map .body { grid-template-rows: 40% minmax(0, 1fr); }
.list { list-style: none; }
.item { position: relative; display: grid; grid-template-columns: 1fr auto; column-gap: 12px; padding: 12px; border-bottom: 1px solid var(--line); }
.item:hover { background: var(--soft); }
.item > * { grid-column: 1 / -1; }
.item > .name { grid-area: 1 / 1; min-height: 24px; padding: 0; border: 0; background: none; font-weight: 600; text-align: start; }
.item .name::before { content: ""; position: absolute; inset: 0; }
.item > .away { grid-area: 1 / 2; }
.badge { color: var(--muted); font-weight: 600; font-size: .875em; }
.badge.open { color: var(--open); }
.badge.closed { color: var(--closed); }
.more-stores, .empty { margin: 12px; }
.offers:not(:empty) { padding: 12px; }
.card { padding: 16px; display: flow-root; }
.card > * + * { margin-top: 12px; }
.card h2 { font-size: 1.25em; line-height: 1.25; }
.card h3, .card dt { font-size: .875em; font-weight: 600; color: var(--muted); }
.card .close { float: inline-end; margin: 0 0 8px 8px; width: 44px; padding: 0; justify-content: center; }
.card a:not(.button) { color: var(--accent); }
.card address { font-style: normal; }
.card summary { cursor: pointer; }
.card dl { display: grid; grid-template-columns: minmax(6em, auto) 1fr; gap: 4px 12px; }
.card dd { overflow-wrap: anywhere; }
.card dd ul { list-style: none; }
.card img { max-width: 100%; border-radius: var(--corner); }
@container (min-width: 600px) { .with-map .body { grid-template: minmax(0, 1fr) / minmax(16em, 2fr) 3fr; } .with-map .map { order: 2; } }
@media (forced-colors: active) { .suggestion[aria-selected="true"] { outline-color: Highlight; } }
`);

/**
 * Return the elements of the locator, without a store.
 * @param {Language} language
 * @param {Actions} actions
 */
export function frameOf({ TEXT, radii, formatDistance }, actions) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, more = {}) => element("button", { type: "button", onclick, ...more }, text);
  const options = element("ul", { class: "suggestions", id: "suggestions", role: "listbox", "aria-label": TEXT.suggestions, hidden: true });
  const input = /** @type {HTMLInputElement} */ (
    element("input", {
      type: "search", role: "combobox", "aria-label": TEXT.searchLabel, placeholder: TEXT.searchHint, "aria-autocomplete": "list",
      "aria-expanded": "false", "aria-controls": "suggestions", autocomplete: "off", spellcheck: "false", maxlength: "256", enterkeyhint: "search",
    })
  );
  const suggested = element("p", { class: "hidden", role: "status" });
  const openNow = button(TEXT.openNow, actions.onOpenNow, { "aria-pressed": "false", hidden: true });
  const near = button("-", actions.onForget, { hidden: true });
  near.append(element("span", { role: "img", "aria-label": TEXT.removeIt }, "×"));
  const choices = [["", TEXT.anyDistance], ...radii().map((each) => [String(each), `${TEXT.withinRadius} ${formatDistance(each)}`])];
  const radius = /** @type {HTMLSelectElement} */ (
    element("select", { "aria-label": TEXT.withinRadius, hidden: true, onchange: () => actions.onRadius(radius.value) },
      ...choices.map(([value, text]) => element("option", { value }, text)))
  );
  const form = element("form", { class: "search", part: "search", role: "search" },
    element("div", { class: "box" }, input, options, suggested), button(TEXT.myPosition, actions.onLocate));
  const status = element("p", { class: "status", role: "status" });
  const list = element("ol", { class: "list", part: "list" });
  const offers = element("div", { class: "buttons offers" });
  const empty = element("div", { class: "empty", hidden: true },
    element("slot", { name: "empty" }, element("p", {}, element("strong", {}, TEXT.emptyTitle)), element("p", {}, TEXT.emptyHint)));
  const more = button(TEXT.moreStores, actions.onMore, { class: "more-stores", hidden: true });
  const card = element("div", { class: "card", part: "card", role: "region", hidden: true });
  const map = element("div", { class: "map", part: "map", role: "region", "aria-label": TEXT.mapLabel });
  const side = element("div", { class: "side" }, element("slot", { name: "before-list" }), list, empty, offers, more, card);
  const bar = element("div", { class: "buttons" }, status, near, radius, openNow);
  const root = element("div", { class: "locator" }, form, bar, element("div", { class: "body" }, map, side));
  card.addEventListener("keydown", (event) => event.key === "Escape" && actions.onClose());
  return { root, form, input, options, suggested, openNow, near, radius, status, list, offers, empty, more, card, map, side };
}

/** @param {Store} store @returns {string} */
export const nameOf = (store) => store.name || store.address_1 || store.store_id;

/** @param {Store} store @param {Shown} shown @returns {ReturnType<typeof import("./hours.js").openingParts>} whether it is open, its week */
function openingOf(store, { hours, openingParts, language }) {
  const value = hours && store.attributes?.[hours];
  if (store.is_open === false) return { badge: badge(false, language.TEXT.closedForGood), week: element("div") };
  return value && openingParts ? openingParts(value, new Date(), language) : null;
}

/**
 * Return an item of the list.
 * @param {Store} store
 * @param {Shown} shown
 * @param {() => void} onclick
 */
export function itemOf(store, shown, onclick) {
  const { formatDistance, addressLines } = shown.language;
  const lines = addressLines(store);
  return element("li", { class: "item", part: "item" },
    typeof store.distance === "number" ? element("span", { class: "away small" }, formatDistance(store.distance)) : null,
    element("button", { type: "button", class: "name", onclick }, nameOf(store)),
    element("p", { class: "small" }, (store.country ? lines.slice(0, -1) : lines).join(", ")),
    openingOf(store, shown)?.badge);
}

/**
 * Return what the card of a store shows.
 * @param {Store} store
 * @param {Shown} shown
 * @param {() => void} onClose
 * @returns {Node[]}
 */
function cardOf(store, shown, onClose) {
  const { language, host } = shown;
  const { TEXT, addressLines, formatDistance } = language;
  const opening = openingOf(store, shown);
  const lines = addressLines(store);
  const phone = store.phone_number;
  const template = host.getAttribute("directions") ?? DIRECTIONS;
  const directions = template && template.replace("{destination}", encodeURIComponent(destinationOf(store, lines.join(", "))));
  const page = pageOf(store, host);
  return [
    element("button", { type: "button", class: "close", "aria-label": TEXT.close, onclick: onClose }, "×"),
    element("h2", { tabindex: "-1" }, nameOf(store)),
    opening && element("p", {}, opening.badge),
    typeof store.distance === "number" ? element("p", { class: "small" }, formatDistance(store.distance)) : null,
    element("address", {}, ...lines.flatMap((line, index) => (index ? [element("br"), line] : [line]))),
    phone && element("p", {}, element("a", { href: callUrl(phone), "aria-label": `${TEXT.call} ${phone}` }, phone)),
    opening?.week,
    attributesOf(store, shown),
    element("div", { class: "buttons" }, directions && siteLink(directions, TEXT.directions, { class: "button primary" }),
      page && element("a", { class: "button", href: page }, TEXT.moreAbout)),
  ].filter(Boolean);
}

/** @param {Store} store @param {Shown} shown @returns {HTMLElement} */
function attributesOf(store, { language, service, host }) {
  const names = host.hasAttribute("show") ? host.words("show") : service.attributes.filter(({ show }) => show !== "never").map(({ name }) => name);
  const shown = names.flatMap((name) => service.attributes.filter((each) => each.name === name && each.kind !== "hours"));
  return element("dl", {}, ...shown.flatMap(({ name, kind, label }) => {
    const value = store.attributes?.[name] ?? "";
    if (value === "" || value.length === 0) return [];
    return [element("dt", {}, label), element("dd", {}, attributeNode(kind, value, attributeText(kind, value, language), label, service.images))];
  }));
}

/** @typedef {ReturnType<typeof frameOf>} Parts */

/** @param {Parts} parts @param {HTMLElement[]} items of the list @param {boolean} isMore whether they are added to those that are there */
export function showItems(parts, items, isMore) {
  isMore ? parts.list.append(...items) : parts.list.replaceChildren(...items);
  if (!isMore) parts.side.scrollTop = 0;
  parts.side.removeAttribute("aria-busy");
  parts.offers.replaceChildren();
  if (isMore) items[0]?.querySelector("button")?.focus();
}

/** @param {Parts} parts @param {Shown} shown @param {URLSearchParams} query show what is set in it @param {string} place the name of its point */
export function showQuery(parts, { hours, language: { TEXT } }, query, place) {
  const near = query.get("near");
  parts.openNow.hidden = !hours;
  parts.openNow.setAttribute("aria-pressed", String(query.has("open_at")));
  parts.near.hidden = parts.radius.hidden = !near;
  parts.near.firstChild?.replaceWith(TEXT.nearPlace(place || (near ?? "")));
  parts.radius.value = query.get("radius") ?? "";
}

/** @param {Parts} parts @param {Store} store show its card in place of the list @param {Shown} shown @param {() => void} onClose */
export function showCard({ card, side }, store, shown, onClose) {
  card.replaceChildren(...cardOf(store, shown, onClose));
  card.setAttribute("aria-label", nameOf(store));
  side.classList.add("with-card");
  card.hidden = false;
  card.querySelector("h2")?.focus({ preventScroll: true });
}

/** @param {import("./api.js").ApiError} error @param {import("./en.js").Texts} TEXT @returns {string} why there are no stores */
export const failureText = ({ kind, status }, TEXT) =>
  ({ 401: TEXT.badKey, 403: TEXT.otherSite })[status] ?? (kind === "offline" ? TEXT.offline : TEXT.failed(status));

/** @param {Store} store @param {import("./store-locator.js").StoreLocator} host @returns {string} the address of the page of a store, if it has one */
export function pageOf(store, host) {
  const template = host.text("store-url");
  return template && new URL(template.replace("{store_id}", encodeURIComponent(store.store_id)), document.baseURI).href;
}
