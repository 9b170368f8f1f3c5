// What is shown in place of rows: why there are none, and what can be done.

import { forgetKey, isRemembered, storeKey, storedKey } from "../docs/key.js";
import { ApiError } from "./api.js";
import { meant } from "./conditions.js";
import { byId, element, say } from "./dom.js";
import { closeMenus } from "./menus.js";
import { needsKey } from "./results.js";
import { TEXT, fieldLabel } from "./strings.js";

/** With more possible values, they are not listed. */
const MOST_CHOICES = 6;

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./api.js").Invalid} Invalid
 */

/** @param {string} label @param {() => void} onclick */
const button = (label, onclick) => element("button", { type: "button", onclick }, label);

/**
 * Show the rows, or why there are none.
 * @param {unknown} error null if there are rows
 * @param {State} state
 * @param {() => void} retry
 */
export function showProblem(error, state, retry) {
  const kind = error instanceof ApiError ? error.kind : error === null ? "" : "failed";
  if (error !== null && !(error instanceof ApiError)) console.error(error);
  const isOver = kind !== "" && kind !== "offline";
  byId("waiting").hidden = true;
  byId("q-error").hidden = true;
  byId("key-form").hidden = kind !== "key";
  byId("problem").hidden = !kind || kind === "key";
  document.body.classList.toggle("alone", isOver);
  if (isOver) for (const id of ["rows", "pager", "empty"]) byId(id).hidden = true;
  if (isOver) say(byId("total"), "");
  if (kind && kind !== "key") byId("problem").replaceChildren(...described(/** @type {ApiError} */ (error), state, retry));
  if (kind === "key") askForKey();
  byId("key-menu").hidden = !needsKey || !storedKey();
}

/** Ask for a key, and say so if the last one is wrong. */
function askForKey() {
  byId("key-error").textContent = storedKey() ? TEXT.keyWrong : "";
  byId("key-error").hidden = !storedKey();
  forgetKey();
  byId("key").focus();
}

/** @param {() => void} start with a new key @param {() => void} refresh without the old one */
export function listenForKeys(start, refresh) {
  byId("key-menu").addEventListener("toggle", () => (byId("key-where").textContent = isRemembered() ? TEXT.keyKept : TEXT.keyOfTab));
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
}

/** @param {ApiError} error @param {State} state @param {() => void} retry @returns {HTMLElement[]} an error in words, with what to do */
function described(error, state, retry) {
  const again = button(TEXT.retry, retry);
  if (error.kind === "offline") return [element("h2", {}, TEXT.offline), element("p", {}, TEXT.offlineHint), again];
  if (error.kind !== "invalid") return [element("h2", {}, TEXT.failed(error.status ?? 0)), again];
  return [element("h2", {}, TEXT.invalidTitle), element("ul", {}, ...error.items.map((item) => invalid(item, state)))];
}

/** @param {string} msg @returns {string} */
const sentence = (msg) => msg.replace(/^Value error, /, "").replace(/^./u, (first) => first.toUpperCase());

/** @param {Invalid} item @param {State} state */
function invalid({ loc: [, name], msg, type }, state) {
  if (name === "q") {
    byId("q-error").hidden = false;
    byId("q-error").textContent = sentence(msg);
  }
  const choices = [...msg.matchAll(/'([^']+)'/g)].map(([, choice]) => choice);
  const other = type === "enum" ? meant(state.get(name), choices) : null;
  return element(
    "li",
    {},
    element("strong", {}, fieldLabel(name), state.get(name) && ` “${state.all(name).join(", ")}”`),
    element("p", {}, choices.length > MOST_CHOICES ? TEXT.noSuchValue : sentence(msg)),
    element(
      "div",
      { class: "row" },
      other && button(TEXT.did(other), () => state.set({ [name]: other })),
      button(TEXT.remove(fieldLabel(name).toLowerCase()), () => state.set({ [name]: "" })),
    ),
  );
}

/**
 * Say why a result has no rows.
 * @param {HTMLElement} root
 * @param {{total: number, whole: number | null}} counts of the result, of all stores if that is known
 * @param {State} state
 * @param {import("./search.js").Search} search
 */
export function showEmpty(root, { total, whole }, state, search) {
  const draw = (/** @type {string} */ title, /** @type {string} */ hint, /** @type {HTMLElement[]} */ ...actions) =>
    root.replaceChildren(element("h2", {}, title), element("p", {}, hint), element("div", { class: "row" }, ...actions));
  root.hidden = false;
  if (whole === 0) return draw(TEXT.noStores, TEXT.noStoresHint);
  if (total > 0) return draw(TEXT.emptyPage, "", button(TEXT.firstPage, () => state.set({ page_num: "" })));
  const all = button(TEXT.clearAll, () => state.clear());
  if (state.get("bbox")) return draw(TEXT.emptyArea, TEXT.emptyAreaHint, button(TEXT.allAreas, () => state.set({ bbox: "" })), all);
  draw(TEXT.emptyTitle, byId("chips").hidden ? TEXT.emptyWordsHint : TEXT.emptyHint, all);
  search.offer().then((offered) => offered && all.before(offered));
}
