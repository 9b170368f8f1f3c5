// The page: it connects the address, the requests and what is seen.

import { storedKey } from "../docs/key.js";
import { ApiError } from "./api.js";
import { Card } from "./card.js";
import { Dataset } from "./dataset.js";
import { byId, locate, say } from "./dom.js";
import { Filters } from "./filters.js";
import { pointOf } from "./language.js";
import { List } from "./list.js";
import { closeMenus, watchMenus } from "./menus.js";
import { Place, note } from "./place.js";
import { listenForKeys, showEmpty, showProblem } from "./problems.js";
import { api, needsKey, results, settings, state } from "./results.js";
import { Search } from "./search.js";
import { State } from "./state.js";
import { LANGUAGE, TEXT, countryName, formatNumber } from "./strings.js";

const OFFLINE_MILLISECONDS = 3000;

for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-text]"))) {
  part.textContent = /** @type {any} */ (TEXT)[part.dataset.text ?? ""];
}
for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-label]"))) {
  part.setAttribute("aria-label", /** @type {any} */ (TEXT)[part.dataset.label ?? ""]);
}
byId("q").placeholder = TEXT.searchHint;

const companyName = (/** @type {string} */ id) => results.companyName(id);
const goNear = (/** @type {string} */ near) => {
  closeMenus();
  state.set({ near, bbox: "" });
};

const list = new List(
  { table: byId("table"), pager: byId("pager"), columns: byId("columns"), order: byId("order") },
  (settings.members ?? "").split(" "),
  {
    companyName,
    linkTo: (id) => state.linkTo(id),
    onOpen: (id) => openStore(id, { fly: true }),
    onHover: (store) => place.map?.point(store && pointOf(store)),
    onChange: (values) => state.set(values),
  },
);
const filters = new Filters({ menus: byId("menus"), chips: byId("chips") }, state, {
  companyName,
  known: [...(settings.filters ?? "").split(" "), "near", "radius", "bbox", "q"],
  onCount: (names) => addCounts(results.abort.signal, names).catch((error) => results.abort.signal.aborted || show(error)),
  onFind: (name, words) => results.valuesOf(name, words),
  onNear: () => locate(TEXT, note, (near) => goNear((state.here = near))),
  onPick: () => {
    showTab("map");
    closeMenus();
    place.pick();
  },
});
const search = new Search(
  { form: byId("search"), input: byId("q"), options: byId("suggestions"), status: byId("suggested") },
  api,
  state,
  LANGUAGE,
  (typed) => filters.suggest(typed),
);
const card = new Card(byId("card"), api, (settings.images ?? "").split(" "), {
  linkTo: (id) => State.permanent(id),
  onClose: () => {
    const { id } = card;
    state.show({ store: "" });
    list.focus(id);
  },
  onNear: (near) => {
    card.lower(true);
    state.clear({ near }, { place: card.title });
  },
  onCompany: (id) => state.clear({ company_id: id }),
  onShow: (point) => {
    card.lower(true);
    showTab("map");
    place.select(point, { fly: true, below: card.height });
  },
});
const place = new Place(api, { url: settings.tiles ?? "", attribution: settings.attribution ?? "" }, {
  onOpen: (id) => {
    card.lower(true);
    openStore(id, {});
  },
  onHover: (id) => list.point(id),
  onArea: (bbox) => state.set({ bbox }),
  onPick: (near) => {
    place.cancelPick();
    goNear(near);
  },
  onError: (error) => show(error),
});
const dataset = new Dataset(api, results, {
  onWhole: showWhole,
  onAttributes: (attributes) => {
    for (const part of [filters, list, card]) part.setAttributes(attributes);
  },
  onReload: refresh,
});

/** The timer of another attempt. */
let again = 0;
let total = 0;
/** What saves the stores as a file. @type {import("./takeaway.js").TakeAway | undefined} */
let takeAway;
/** Whether the map goes to the store that is opened next. */
let fly = true;

/** @param {boolean} [isNew] show what the address says; whether that is another search */
async function refresh(isNew = false) {
  clearTimeout(again);
  const signal = results.begin();
  search.showState();
  filters.showState();
  if (isNew && !byId("toolbar").matches(":focus-within")) byId("toolbar").scrollLeft = 0;
  if (needsKey && !storedKey()) return show(new ApiError("key"));
  list.busy(true);
  try {
    const { body, modified } = await results.page(signal);
    total = body.total_count;
    showRows(body);
    await painted();
    if (signal.aborted) return;
    filters.show(body.facets ?? {}, total);
    search.refresh();
    takeAway?.show(total);
    await Promise.all([place.show(state.selection, total), addCounts(signal), addNames(body, signal), dataset.show(modified), updateCard(signal, isNew)]);
  } catch (error) {
    if (signal.aborted) return;
    show(error);
    if (error instanceof ApiError && error.kind === "offline") again = setTimeout(() => refresh(isNew), OFFLINE_MILLISECONDS);
  } finally {
    if (!signal.aborted) list.busy(false);
  }
}

/** @param {any} body a page */
function showRows(body) {
  show(null);
  const fields = state.all("fields").flatMap((each) => each.split(","));
  list.show(body, { fields, query: state.get("q"), near: state.get("near") !== "" });
  list.busy(false);
  list.select(card.id);
  showWhole();
  const isNearest = total > 1 && body.sort_by === "distance" && body.sort_order === "asc" && !state.get("radius");
  say(byId("total"), isNearest ? TEXT.nearestFirst(total) : TEXT.found(total));
  document.title = `${TEXT.stores(total)} · Store Directory`;
}

/** @returns {Promise<void>} when the rows are seen: what else there is takes longer */
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** Show what depends on how many stores there are at all. */
function showWhole() {
  const { whole } = dataset;
  document.body.classList.toggle("single", whole !== null && whole <= 1);
  if (list.page?.data.length === 0) showEmpty(byId("empty"), { total, whole }, state, search);
  else byId("empty").hidden = true;
}

/** @param {AbortSignal} signal @param {string[]} [names] of filters whose values are counted */
async function addCounts(signal, names = filters.counted) {
  if (names.length) filters.show(await results.counts(names, signal));
}

/** @param {any} page @param {AbortSignal} signal */
async function addNames(page, signal) {
  if (!(await results.addNames(page, signal))) return;
  list.refresh();
  filters.refresh();
}

/** @param {string} id @param {{fly?: boolean}} how open the card of a store; whether the map goes there */
function openStore(id, how) {
  fly = how.fly === true;
  state.show({ store: id });
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
    card.lower(false);
    place.select(null);
    return;
  }
  if (needsKey && !storedKey()) return;
  if (state.view.get("tab") === "map") card.lower(true); // on a phone, the map stays in sight
  card.setDistance(list.rowOf(id)?.distance);
  const how = { fly, below: 0 };
  fly = true;
  try {
    const store = await card.open(id);
    if (store && card.id === id) place.select(pointOf(store), { ...how, below: card.height });
  } catch (error) {
    show(error);
  }
}

/** @param {AbortSignal} signal @param {boolean} isNew fit the card to a result: another search closes that of a store that it does not find */
async function updateCard(signal, isNew) {
  const { id } = card;
  if (!id) return;
  const store = list.rowOf(id) ?? (await results.find(id, signal));
  if (id !== card.id) return;
  if (isNew && !store) state.show({ store: "" }, true);
  else card.setDistance(store?.distance);
}

/** @param {unknown} error show why there are no rows; null if there are */
function show(error) {
  showProblem(error, state, () => refresh());
  filters.showInvalid(error instanceof ApiError && error.kind === "invalid" ? error.items : []);
}

/** Load what is in the menu of files, when it is opened. */
async function openTakeAway() {
  const menu = byId("take-away");
  if (!menu.open) return;
  const { TakeAway } = await import("./takeaway.js");
  takeAway ??= new TakeAway(menu.querySelector(".panel"), api, () => state.selection, needsKey);
  takeAway.show(total);
}

/** @param {string} tab on a phone, show the list or the map @param {boolean} [write] */
function showTab(tab, write = true) {
  document.body.classList.toggle("on-map", tab === "map");
  for (const name of ["list", "map"]) byId(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
  if (write) state.show({ tab: tab === "map" ? "map" : "" });
  showMap();
}

/** Show the result on the map if it is in sight now: of a phone's tab, or because a phone was turned. */
function showMap() {
  if (list.page && place.isBehind && place.isShown) place.show(state.selection, total);
}

function listenToService() {
  api.addEventListener("answered", () => (byId("waiting").hidden = true));
  api.addEventListener("waiting", (event) => {
    const { status, seconds } = /** @type {CustomEvent} */ (event).detail;
    byId("waiting").hidden = false;
    byId("waiting").textContent = status === 429 ? TEXT.waiting(seconds) : TEXT.unavailable(seconds);
    list.showSkeleton();
  });
  addEventListener("online", () => refresh());
  addEventListener("resize", showMap);
}

function listenToPerson() {
  byId("take-away").addEventListener("toggle", () => openTakeAway().catch(() => show(new ApiError("offline"))));
  byId("pick-cancel").addEventListener("click", () => place.cancelPick());
  byId("area").addEventListener("click", () => place.map && state.set({ bbox: place.map.area(), near: "" }));
  for (const name of ["list", "map"]) byId(`tab-${name}`).addEventListener("click", () => showTab(name));
  byId("tabs").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const other = document.body.classList.contains("on-map") ? "list" : "map";
    showTab(other);
    byId(`tab-${other}`).focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !place.cancelPick() && card.id) {
      card.actions.onClose();
    } else if (event.key === "/" && !/** @type {HTMLElement} */ (event.target).closest("input, textarea, select")) {
      event.preventDefault();
      byId("q").focus();
    }
  });
  /** @type {HTMLElement} */ (document.querySelector(".skip")).addEventListener("click", (event) => {
    event.preventDefault(); // the fragment is the state's
    byId("rows").focus();
  });
}

function start() {
  refresh();
  showCard();
}

watchMenus();
state.addEventListener("query", () => refresh(true));
state.addEventListener("view", showCard);
state.addEventListener("key", start);
listenToService();
listenToPerson();
listenForKeys(start, refresh);
start();
// Makers of texts take milliseconds to begin: they do while the first answer is on its way.
for (const begin of [() => formatNumber(1), () => TEXT.found(1), () => countryName("CA")]) setTimeout(begin);
