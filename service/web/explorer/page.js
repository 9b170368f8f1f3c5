// The page: it connects the address, the requests and what is seen.

import { forgetKey, isRemembered, storeKey, storedKey } from "../docs/key.js";
import { Api, ApiError, inParts } from "./api.js";
import { attributesOf } from "./attributes.js";
import { Card, pointOf } from "./card.js";
import { byId, element, say, watchMenus } from "./dom.js";
import { Filters, MENUS } from "./filters.js";
import { List, ROWS, sayTotal } from "./list.js";
import { State } from "./state.js";
import { TEXT, fieldLabel, formatDay, formatMoment } from "./strings.js";
import { TakeAway } from "./takeaway.js";

const TYPING_MILLISECONDS = 150;
const OFFLINE_MILLISECONDS = 3000;
const LOOK_MILLISECONDS = 60_000;
const MOST_NAMES = 200; // of companies, looked up for one page
const MOST_CHARACTERS = 6000; // of the address of a request

const settings = document.body.dataset;
const needsKey = settings.key === "needed";
const members = (settings.members ?? "").split(" ");
const filterNames = [...(settings.filters ?? "").split(" "), "near", "radius", "bbox", "q"];
for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-text]"))) {
  part.textContent = /** @type {any} */ (TEXT)[part.dataset.text ?? ""];
}
for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-label]"))) {
  part.setAttribute("aria-label", /** @type {any} */ (TEXT)[part.dataset.label ?? ""]);
}
byId("q").placeholder = TEXT.searchHint;

const state = new State();
const api = new Api(storedKey);
/** @type {Map<string, string>} names of companies by identifier */
const names = new Map();
const companyName = (/** @type {string} */ id) => names.get(id) ?? id;

const list = new List(
  { table: byId("table"), pager: byId("pager"), columns: byId("columns"), order: byId("order"), empty: byId("empty") },
  members,
  {
    companyName,
    linkTo: (id) => state.linkTo(id),
    onOpen: (id) => state.show({ store: id }),
    onChange: (values) => ("clear" in values ? state.clear() : state.set(values)),
  },
);
const filters = new Filters({ menus: byId("menus"), chips: byId("chips"), suggestions: byId("suggestions") }, state, {
  companyName,
  known: filterNames,
  onCount: (name) => addCounts(abort.signal, [name]).catch((error) => abort.signal.aborted || showProblem(error)),
  onNear: locate,
  onPick: () => {
    showTab("map");
    closeMenus();
    note(TEXT.picking);
    map?.pick();
  },
});
const card = new Card(byId("card"), api, {
  linkTo: (id) => State.permanent(id),
  onClose: () => {
    const { id } = card;
    state.show({ store: "" });
    list.focus(id);
  },
  onNear: (near) => state.set({ near, bbox: "" }),
  onCompany: (id) => state.set({ company_id: id }),
  onShow: (point) => {
    showTab("map");
    map?.goTo(point);
  },
});
const takeAway = new TakeAway(
  /** @type {HTMLElement} */ (byId("take-away").querySelector(".panel")),
  api,
  () => state.selection,
  needsKey,
);

/** @type {import("./map.js").StoreMap | null} */
let map = null;
/** @type {Promise<void> | null} */
let mapLoading = null;
let abort = new AbortController();
/** The words in the search box, but for what is being typed. */
let searched = "";
/** The timer of another attempt. */
let again = 0;
/** What the map was fitted to: another order or page does not move it. */
let fitted = "none yet";
/** Where the open store is. @type {[number, number] | null} */
let place = null;
/** The version of the rows and of the numbers at the foot. */
let version = "";
let stated = "";
/** The attributes of the stores, as JSON to compare. */
let declared = "[]";
let total = 0;

/** Show what the address says. */
async function refresh() {
  clearTimeout(again);
  abort.abort();
  abort = new AbortController();
  const { signal } = abort;
  if (state.get("q") !== searched) byId("q").value = searched = state.get("q");
  filters.showState();
  if (needsKey && !storedKey()) return showProblem(new ApiError("key"));
  list.busy(true);
  try {
    const query = request();
    const { body, version: of, modified } = await api.get("stores", query, signal);
    version = of;
    total = body.total_count;
    showProblem(null);
    const fields = state.all("fields").flatMap((each) => each.split(","));
    list.show(body, { fields, query: state.get("q"), near: state.get("near") !== "" });
    list.busy(false);
    list.select(card.id);
    sayTotal(byId("total"), total);
    document.title = `${TEXT.stores(total)} · Store Directory`;
    filters.show(body.facets ?? {});
    takeAway.show(total);
    byId("newer").hidden = true;
    await Promise.all([showMap(), addCounts(signal), addNames(body, signal), stateData(modified)]);
  } catch (error) {
    if (signal.aborted) return;
    showProblem(error);
    if (error instanceof ApiError && error.kind === "offline") again = setTimeout(refresh, OFFLINE_MILLISECONDS);
  } finally {
    if (!signal.aborted) list.busy(false);
  }
}

/** @returns {URLSearchParams} the request for a page, with the counts of values */
function request() {
  const query = new URLSearchParams(state.query);
  if (!query.get("limit")) query.set("limit", String(ROWS));
  const fields = query.getAll("fields").join(",");
  if (fields) query.set("fields", `${fields},store_id`);
  query.set("facets", MENUS.join(","));
  return query;
}

/**
 * Count the values of filters, of those that are set as if they were not: what else can be chosen.
 * @param {AbortSignal} signal
 * @param {string[]} wanted
 */
async function addCounts(signal, wanted = filters.counted) {
  const counts = wanted.map(async (name) => {
    const query = new URLSearchParams(state.selection);
    for (const each of [name, "sort_by", "sort_order", "fields"]) query.delete(each);
    query.set("limit", "1");
    query.set("fields", "store_id");
    query.set("facets", name);
    const { body } = await api.get("stores", query, signal);
    return body.facets;
  });
  filters.show(Object.assign({}, ...(await Promise.all(counts))));
}

/** @param {any} page @param {AbortSignal} signal */
async function addNames(page, signal) {
  const facet = page.facets?.company_id?.values ?? [];
  const ids = [...page.data, ...facet.map((/** @type {any} */ each) => ({ company_id: each.value }))]
    .map((each) => each.company_id)
    .concat(state.all("company_id"))
    .filter((id) => id && !names.has(id));
  const wanted = [...new Set(ids)].slice(0, MOST_NAMES);
  if (!wanted.length) return;
  const found = inParts(wanted, MOST_CHARACTERS).map(async (part) => {
    const query = new URLSearchParams({ fields: "company_id,name" });
    for (const id of part) query.append("company_id", id);
    return (await api.get("companies", query, signal)).body.data;
  });
  const companies = (await Promise.all(found)).flat();
  for (const id of wanted) names.set(id, id);
  for (const company of companies) names.set(company.company_id, company.name || company.company_id);
  list.refresh();
  filters.show(filters.facets);
}

/** Say how much data there is, and of when. @param {Date | null} modified */
async function stateData(modified) {
  if (stated === version) return;
  stated = version;
  const first = async (/** @type {Record<string, string>} */ query, /** @type {string} */ path) =>
    (await api.get(path, { limit: "1", ...query })).body;
  const [stores, companies] = await Promise.all([first({}, "stores"), first({ fields: "company_id" }, "companies")]);
  const facts = [TEXT.stores(stores.total_count), TEXT.companies(companies.total_count)].map((text) => element("span", {}, text));
  if (modified) facts.push(element("span", { title: formatMoment(modified) }, TEXT.age(formatDay(modified))));
  byId("state").replaceChildren(...facts, element("span", { class: "version" }, TEXT.version(version)));
  await showAttributes("attributes" in (stores.data[0] ?? {}));
}

/** Show the attributes of the stores, without which the page works, too. @param {boolean} has whether there are any */
async function showAttributes(has) {
  let attributes;
  try {
    attributes = has ? attributesOf((await api.get("openapi.json")).body) : [];
  } catch {
    return;
  }
  if (JSON.stringify(attributes) === declared) return;
  declared = JSON.stringify(attributes);
  for (const part of [filters, list, card]) part.setAttributes(attributes);
}

/** Show the map, which is loaded after the first rows. */
async function showMap() {
  if (getComputedStyle(byId("place")).display === "none" && map === null) return; // a phone's list
  mapLoading ??= import("./map.js").then(async ({ StoreMap, loadLeaflet }) => {
    const actions = {
      onOpen: (/** @type {string} */ id) => state.show({ store: id }),
      onArea: (/** @type {string} */ bbox) => state.set({ bbox }),
      onPick: (/** @type {string} */ near) => {
        note("");
        state.set({ near, bbox: "" });
      },
      onMove: () => (byId("area").hidden = false),
      onError: showProblem,
      say: note,
    };
    const tiles = { url: settings.tiles ?? "", attribution: settings.attribution ?? "" };
    map = new StoreMap(await loadLeaflet(), byId("map"), api, tiles, actions);
  });
  try {
    await mapLoading;
  } catch {
    mapLoading = null;
    note(TEXT.noMap);
    return;
  }
  const query = state.selection;
  for (const name of ["sort_by", "sort_order", "fields"]) query.delete(name);
  const conditions = query.toString();
  byId("area").hidden = true;
  await map?.show(query, total, conditions !== fitted);
  fitted = conditions;
  if (place) map?.select(place, byId("card").offsetWidth);
}

/** Open or close the card that the address names. */
async function showCard() {
  const id = state.view.get("store") ?? "";
  showTab(state.view.get("tab") === "map" ? "map" : "list", false);
  if (id === card.id) return;
  document.body.classList.toggle("with-card", id !== "");
  list.select(id);
  if (!id) {
    card.close();
    place = null;
    map?.select(null);
    return;
  }
  if (needsKey && !storedKey()) return;
  const row = list.page?.data.find((each) => each.store_id === id);
  try {
    const store = await card.open(id, row?.distance ?? null);
    if (!store || card.id !== id) return;
    place = pointOf(store);
    map?.select(place, byId("card").offsetWidth);
  } catch (error) {
    showProblem(error);
  }
}

/** @param {unknown} error show why there are no rows; null if there are */
function showProblem(error) {
  const problem = byId("problem");
  const kind = error instanceof ApiError ? error.kind : error === null ? "" : "failed";
  if (error !== null && !(error instanceof ApiError)) console.error(error);
  byId("waiting").hidden = true;
  byId("key-form").hidden = kind !== "key";
  byId("key-menu").hidden = !needsKey || !storedKey() || kind === "key";
  byId("q-error").hidden = true;
  problem.hidden = !kind || kind === "key";
  document.body.classList.toggle("alone", kind !== "" && kind !== "offline");
  for (const id of ["rows", "pager"]) byId(id).hidden = kind !== "" && kind !== "offline";
  if (kind && kind !== "offline") byId("empty").hidden = true;
  if (!kind) {
    byId("key-where").textContent = isRemembered() ? TEXT.keyKept : TEXT.keyOfTab;
    filters.showInvalid([]);
    return;
  }
  if (kind !== "offline") say(byId("total"), "");
  if (kind === "key") {
    byId("key-error").textContent = storedKey() ? TEXT.keyWrong : "";
    byId("key-error").hidden = !storedKey();
    forgetKey();
    byId("key").focus();
    return;
  }
  problem.replaceChildren(...described(/** @type {ApiError} */ (error)));
}

/** @param {ApiError} error @returns {HTMLElement[]} an error in words, with what to do */
function described(error) {
  const retry = element("button", { type: "button", onclick: refresh }, TEXT.retry);
  if (error.kind === "offline") return [element("h2", {}, TEXT.offline), element("p", {}, TEXT.offlineHint), retry];
  if (error.kind !== "invalid") return [element("h2", {}, TEXT.failed(error.status ?? 0)), retry];
  filters.showInvalid(error.items);
  const items = error.items.map(({ loc: [, name], msg }) => {
    if (name === "q") {
      byId("q-error").hidden = false;
      byId("q-error").textContent = msg;
    }
    const reason = msg.replace(/^Value error, /, "");
    const remove = { type: "button", onclick: () => state.set({ [name]: "" }) };
    return element(
      "li",
      {},
      element("strong", {}, fieldLabel(name), state.get(name) && ` “${state.all(name).join(", ")}”`),
      element("p", {}, reason),
      element("button", remove, TEXT.remove(fieldLabel(name).toLowerCase())),
    );
  });
  return [element("h2", {}, TEXT.invalidTitle), element("ul", {}, ...items)];
}

/** @param {string} text say something on the map */
function note(text) {
  byId("map-note").hidden = !text;
  say(byId("map-note"), text);
}

function locate() {
  note(TEXT.locating);
  const failed = () => note(TEXT.noPosition);
  if (!navigator.geolocation) return failed();
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => {
      note("");
      closeMenus();
      state.set({ near: `${coords.latitude.toFixed(5)},${coords.longitude.toFixed(5)}`, bbox: "" });
    },
    failed,
    { timeout: 15_000, maximumAge: 60_000 },
  );
}

function closeMenus() {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
}

/** @param {string} tab on a phone, show the list or the map @param {boolean} [write] */
function showTab(tab, write = true) {
  document.body.classList.toggle("on-map", tab === "map");
  for (const name of ["list", "map"]) byId(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
  if (write) state.show({ tab: tab === "map" ? "map" : "" });
  if (tab === "map" && map === null && total) showMap();
}

/** Look whether newer data is served. */
async function look() {
  if (document.hidden || !version) return;
  try {
    await api.get("stores", { limit: "1", fields: "store_id" });
  } catch {
    // The next request of the person says why.
  }
}

function listen() {
  state.addEventListener("query", refresh);
  state.addEventListener("view", showCard);
  state.addEventListener("key", start);
  api.addEventListener("version", () => (byId("newer").hidden = version === "" || api.version === version));
  api.addEventListener("answered", () => (byId("waiting").hidden = true));
  api.addEventListener("waiting", (event) => {
    const { status, seconds } = /** @type {CustomEvent} */ (event).detail;
    byId("waiting").hidden = false;
    byId("waiting").textContent = status === 429 ? TEXT.waiting(seconds) : TEXT.unavailable(seconds);
  });
  let timer = 0;
  let typing = false;
  const search = byId("q");
  const ask = () => {
    clearTimeout(timer);
    searched = search.value.trim() ? search.value : "";
    state.set({ q: searched }, { replace: typing });
    typing = true;
  };
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, TYPING_MILLISECONDS);
  });
  search.addEventListener("blur", () => (typing = false));
  byId("search").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    ask();
    typing = false;
  });
  byId("key-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    storeKey(byId("key").value.trim(), byId("key-remember").checked);
    byId("key").value = "";
    start();
  });
  byId("key-forget").addEventListener("click", () => {
    forgetKey();
    closeMenus();
    refresh();
  });
  byId("newer").querySelector("button").addEventListener("click", () => {
    names.clear();
    refresh();
  });
  byId("area").addEventListener("click", () => map && state.set({ bbox: map.area(), near: "" }));
  for (const name of ["list", "map"]) byId(`tab-${name}`).addEventListener("click", () => showTab(name));
  byId("tabs").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = document.body.classList.contains("on-map") ? "list" : "map";
    showTab(other);
    byId(`tab-${other}`).focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && map?.picking) {
      map.cancelPick();
      note("");
    } else if (event.key === "Escape" && card.id) {
      card.actions.onClose();
    } else if (event.key === "/" && !/** @type {HTMLElement} */ (event.target).closest("input, textarea, select")) {
      event.preventDefault();
      search.focus();
    }
  });
  addEventListener("online", refresh);
  document.addEventListener("visibilitychange", look);
  /** @type {HTMLElement} */ (document.querySelector(".skip")).addEventListener("click", (event) => {
    event.preventDefault(); // the fragment is the state's
    byId("rows").focus();
  });
  setInterval(look, LOOK_MILLISECONDS);
}

function start() {
  refresh();
  showCard();
}

watchMenus();
listen();
start();
