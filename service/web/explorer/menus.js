// Menus: <details> with a panel, of which one is open at a time; and the values of a filter in one, with their counts.

import { element } from "./dom.js";
import { TEXT, fieldLabel, formatNumber } from "./strings.js";
import { filtered, folded } from "./words.js";

const FEW = 8;
const TYPING_MILLISECONDS = 150;
/** With more distinct values for each store, a menu of them finds nothing. */
const TOO_VARIED = 0.8;

/**
 * @typedef {{distinct: number, values: {value: any, count: number}[]}} Facet
 * @typedef {import("./state.js").State} State
 */

/** Close all menus. */
export function closeMenus() {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
}

/** Close the menus when there is a click elsewhere, which does nothing else to list and map, or Escape, and keep them inside the window. */
export function watchMenus() {
  const closeOthers = (/** @type {any} */ target) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(target)) menu.removeAttribute("open");
  };
  const clicked = (/** @type {MouseEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const menu = document.querySelector("details.menu[open]");
    if (menu && !menu.contains(target) && target.closest("main") && !target.closest("summary")) {
      event.preventDefault();
      event.stopPropagation();
    }
    closeOthers(target);
  };
  document.addEventListener("click", clicked, true);
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) placeInWindow(/** @type {HTMLElement} */ (target));
  });
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector("details.menu[open]");
    if (event.key !== "Escape" || menu === null) return;
    menu.removeAttribute("open");
    menu.querySelector("summary")?.focus();
    event.stopImmediatePropagation();
  });
  document.addEventListener(
    "toggle",
    (event) => {
      const menu = /** @type {HTMLDetailsElement} */ (event.target);
      if (!menu.matches("details.menu")) return;
      const panel = /** @type {HTMLElement} */ (menu.querySelector(".panel"));
      if (!menu.open) return observer.unobserve(panel);
      closeOthers(menu);
      observer.observe(panel);
    },
    true,
  );
}

/** @param {HTMLElement} panel that of an open menu, which is placed in the window: what comes into it makes it higher */
function placeInWindow(panel) {
  panel.style.left = panel.style.top = "";
  const place = /** @type {HTMLElement} */ (panel.parentElement).getBoundingClientRect();
  const size = panel.getBoundingClientRect();
  const below = place.bottom + 6;
  const above = Math.max(8, place.top - 6 - size.height);
  panel.style.left = `${Math.max(8, Math.min(place.left, document.documentElement.clientWidth - size.width - 8))}px`;
  panel.style.top = `${below + size.height > innerHeight ? above : below}px`;
}

/** The values of a filter, of which several can be chosen. */
export class ValueMenu {
  /**
   * @param {string} name
   * @param {"menu" | "part"} kind whether it is a menu of its own
   * @param {State} state
   * @param {(name: string, value: any) => string} labelOf
   * @param {(name: string, words: string) => Promise<Facet["values"]>} find returns values that are not listed
   */
  constructor(name, kind, state, labelOf, find) {
    const label = fieldLabel(name);
    this.name = name;
    this.state = state;
    this.labelOf = labelOf;
    this.find = find;
    /** @type {Facet | undefined} */
    this.facet = undefined;
    /** Values that were found for what is typed. @type {Facet["values"]} */
    this.found = [];
    this.isFinding = false;
    this.timer = 0;
    this.total = 0;
    this.title = element("span", {}, label);
    this.values = element("div", { class: "choices", role: "group", "aria-label": label });
    this.rest = element("p", { class: "hint" });
    const hint = TEXT.findIn(label);
    this.search = /** @type {HTMLInputElement} */ (
      element("input", { type: "search", placeholder: hint, "aria-label": hint, hidden: true, oninput: () => this.#look() })
    );
    this.root = /** @type {HTMLDetailsElement} */ (
      element(
        "details",
        { class: kind, ontoggle: () => this.#opened() },
        element("summary", { "data-menu": name }, this.title),
        element("div", { class: kind === "menu" ? "panel" : "values" }, this.search, this.values, this.rest),
      )
    );
  }

  /** @param {Facet} facet show the counts of values */
  show(facet) {
    this.facet = facet;
    this.#look();
  }

  /** Let a person type at once, unless that raises a keyboard on the screen. */
  #opened() {
    this.#look();
    this.showState(this.total);
    this.#focus();
  }

  #focus() {
    if (this.root.open && matchMedia("(hover: hover)").matches) this.search.focus();
  }

  /** Show the values in which is what is typed: those that are not listed come once typing pauses. */
  #look() {
    clearTimeout(this.timer);
    this.timer = 0;
    const words = this.search.value.trim();
    this.isFinding = words !== "" && this.root.open && this.#unlisted > 0;
    if (!words) this.found = [];
    this.#fill();
    if (!this.isFinding) return;
    const timer = setTimeout(async () => {
      const found = await this.find(this.name, words);
      if (timer !== this.timer) return; // something else is typed
      this.found = found;
      this.isFinding = false;
      this.#fill();
    }, TYPING_MILLISECONDS);
    this.timer = timer;
  }

  /** @returns {number} how many values the counts leave out */
  get #unlisted() {
    return this.facet ? this.facet.distinct - this.facet.values.filter(({ value }) => value !== null).length : 0;
  }

  /** @param {number} total show how many values are chosen, of so many stores; in use, it stays though there is no choice left */
  showState(total) {
    this.total = total;
    const label = fieldLabel(this.name);
    const { length } = this.#chosen;
    this.title.textContent = length ? TEXT.chosen(label, length) : label;
    this.title.parentElement?.classList.toggle("set", length > 0);
    this.root.hidden = length === 0 && !this.root.open && !this.#isUseful(total);
  }

  /** @returns {string[]} */
  get #chosen() {
    return this.state.all(this.name);
  }

  /** @param {number} total @returns {boolean} whether a choice of its values narrows the list, as far as is known */
  #isUseful(total) {
    const distinct = this.facet?.distinct ?? FEW;
    return distinct > 1 && (distinct <= FEW || this.name === "company_id" || distinct < TOO_VARIED * total);
  }

  /** @param {string} one @param {string} other @returns {boolean} whether the filter takes both as one value */
  #isSame(one, other) {
    return one === other || (this.name !== "company_id" && filtered(one) === filtered(other));
  }

  /** Draw the values, which takes long, while the menu is open. */
  #fill() {
    const { facet, values, search, rest } = this;
    if (facet === undefined || !this.root.open) return;
    const chosen = this.#chosen;
    const wanted = folded(search.value.trim());
    const listed = new Set(facet.values.map(({ value }) => value));
    const all = [...facet.values, ...this.found.filter(({ value }) => !listed.has(value))];
    const missing = chosen.filter((each) => !all.some(({ value }) => this.#isSame(String(value), each)));
    const rows = [...missing.map((value) => ({ value, count: 0 })), ...all].filter(
      ({ value }) => !wanted || folded(this.labelOf(this.name, value)).includes(wanted),
    );
    const focused = /** @type {HTMLInputElement | null} */ (values.querySelector("input:focus"))?.value;
    search.hidden = facet.values.length <= FEW;
    values.replaceChildren(
      ...rows.map(({ value, count }) => this.#choice(value, count, chosen.some((each) => this.#isSame(each, String(value))))),
    );
    if (!rows.length) values.append(element("p", { class: "hint" }, this.isFinding ? TEXT.loading : TEXT.noValues));
    rest.textContent = this.#unlisted > 0 && !wanted ? TEXT.moreValues(this.#unlisted) : "";
    if (focused !== undefined) [...values.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
    if (this.root.querySelector("summary:focus")) this.#focus(); // it was opened before there were values
  }

  /** @param {any} value @param {number} count @param {boolean} checked */
  #choice(value, count, checked) {
    const text = value === null ? "" : String(value);
    const onchange = (/** @type {any} */ event) => {
      const others = this.#chosen.filter((each) => !this.#isSame(each, text));
      this.state.set({ [this.name]: event.target.checked ? [...others, text] : others });
    };
    return element(
      "label",
      { class: value === null ? "choice none" : "choice" },
      element("input", { type: "checkbox", value: text, checked, disabled: value === null, onchange }),
      element("span", { class: "label" }, this.labelOf(this.name, value)),
      " ",
      element("span", { class: "count" }, formatNumber(count)),
    );
  }
}
