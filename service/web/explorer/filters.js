// What narrows the list: menus of values with their counts, the point and radius, and all of it as chips.

import { element } from "./dom.js";
import { RADII, TEXT, fieldLabel, formatDistance, formatNumber } from "./strings.js";
import { filtered, folded } from "./words.js";

/** The filters with a menu, in order. */
export const MENUS = ["country", "province", "city", "company_id", "is_open"];
const FEW = 8;
const SUGGESTED = ["city", "province", "company_id"];
const MOST_SUGGESTIONS = 6;
// Parameters that are no conditions, or have a place of their own.
const NOT_CHIPS = ["q", "sort_by", "sort_order", "limit", "page_num", "fields", "facets", "zoom", "radius"];

/**
 * @typedef {{distinct: number, values: {value: any, count: number}[]}} Facet
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {import("./state.js").State} State
 * @typedef {{companyName: (id: string) => string, known: string[], onCount: (name: string) => void,
 *   onNear: () => void, onPick: () => void}} FilterActions
 */

/** @param {string} name @param {string} one @param {string} other @returns {boolean} whether a filter takes both as one value */
const isSame = (name, one, other) => one === other || (name !== "company_id" && filtered(one) === filtered(other));

export class Filters {
  /**
   * @param {{menus: HTMLElement, chips: HTMLElement, suggestions: HTMLElement}} parts
   * @param {State} state
   * @param {FilterActions} actions
   */
  constructor(parts, state, actions) {
    this.parts = parts;
    this.state = state;
    this.actions = actions;
    /** @type {Record<string, Facet>} */
    this.facets = {};
    /** @type {Map<string, {root: HTMLDetailsElement, title: HTMLElement, values: HTMLElement, search: HTMLInputElement, rest: HTMLElement}>} */
    this.menus = new Map();
    /** @type {Map<string, Attribute>} */
    this.attributes = new Map();
    for (const name of MENUS) this.parts.menus.append(this.#menu(name));
    this.parts.menus.append(this.#nearMenu());
  }

  /** @param {Record<string, Facet>} facets show the counts of values */
  show(facets) {
    Object.assign(this.facets, facets);
    for (const name of Object.keys(facets)) if (this.menus.has(name)) this.#fill(name);
    this.showState();
  }

  /** @param {Attribute[]} attributes those that stores have; the values of one are counted while its menu is open */
  setAttributes(attributes) {
    for (const name of this.attributes.keys()) {
      this.menus.get(name)?.root.remove();
      this.menus.delete(name);
    }
    this.attributes = new Map(attributes.map((each) => [each.name, each]));
    for (const { name, hasMenu } of attributes) {
      if (!hasMenu) continue;
      const menu = this.#menu(name);
      menu.addEventListener("toggle", () => menu.open && this.#count(name));
      this.parts.menus.append(menu);
    }
    this.showState();
  }

  /** @param {string} name count the values of an attribute, whose earlier counts may be of other stores */
  #count(name) {
    delete this.facets[name];
    this.menus.get(name)?.values.replaceChildren(element("p", { class: "hint" }, TEXT.loading));
    this.actions.onCount(name);
  }

  /** @returns {string[]} the filters whose counts the first request has not: they are set, or their menu is open */
  get counted() {
    const isOpen = (/** @type {string} */ name) => this.attributes.has(name) && this.menus.get(name)?.root.open;
    return [...this.menus.keys()].filter((name) => isOpen(name) || (MENUS.includes(name) && this.state.all(name).length));
  }

  /** Show what is set. */
  showState() {
    for (const [name, { title }] of this.menus) {
      const count = this.state.all(name).length;
      title.textContent = count ? TEXT.chosen(fieldLabel(name), count) : fieldLabel(name);
      title.parentElement?.classList.toggle("set", count > 0);
    }
    this.#drawChips();
    this.#drawSuggestions();
    const radius = this.state.get("radius");
    const others = radius && !RADII.includes(Number(radius)) ? [Number(radius)] : [];
    this.radius?.replaceChildren(
      element("option", { value: "" }, TEXT.anyDistance),
      ...[...RADII, ...others].map((each) =>
        element("option", { value: String(each), selected: String(each) === radius }, formatDistance(each)),
      ),
    );
    const near = this.state.get("near") !== "";
    if (this.nearPart) this.nearPart.hidden = !near;
    this.nearTitle?.parentElement?.classList.toggle("set", near);
  }

  /** @param {import("./api.js").Invalid[]} items mark the chips whose values the service does not accept */
  showInvalid(items) {
    const names = items.map((item) => item.loc[1]);
    for (const chip of this.parts.chips.querySelectorAll("[data-name]")) {
      chip.classList.toggle("invalid", names.includes(/** @type {HTMLElement} */ (chip).dataset.name ?? ""));
    }
  }

  /** @param {string} name */
  #menu(name) {
    const label = fieldLabel(name);
    const title = element("span", {}, label);
    const values = element("div", { class: "choices", role: "group", "aria-label": label });
    const rest = element("p", { class: "hint" });
    const search = /** @type {HTMLInputElement} */ (
      element("input", { type: "search", placeholder: TEXT.findIn(label), "aria-label": TEXT.findIn(label), hidden: true })
    );
    search.addEventListener("input", () => this.#fill(name));
    const root = /** @type {HTMLDetailsElement} */ (
      element(
        "details",
        { class: "menu" },
        element("summary", { "data-menu": name }, title),
        element("div", { class: "panel" }, search, values, rest),
      )
    );
    this.menus.set(name, { root, title, values, search, rest });
    return root;
  }

  /** @param {string} name */
  #fill(name) {
    const menu = this.menus.get(name);
    const facet = this.facets[name];
    if (menu === undefined || facet === undefined) return;
    const chosen = this.state.all(name);
    const isChosen = (/** @type {any} */ value) => chosen.some((each) => isSame(name, each, String(value)));
    const listed = facet.values.map(({ value }) => String(value));
    const missing = chosen.filter((each) => !listed.some((value) => isSame(name, value, each)));
    const wanted = folded(menu.search.value);
    const rows = [...missing.map((value) => ({ value, count: 0 })), ...facet.values].filter(
      ({ value }) => !wanted || folded(this.#label(name, value)).includes(wanted),
    );
    const focused = /** @type {HTMLInputElement | null} */ (menu.values.querySelector("input:focus"))?.value;
    menu.search.hidden = facet.values.length <= FEW;
    menu.values.replaceChildren(...rows.map(({ value, count }) => this.#choice(name, value, count, isChosen(value))));
    if (!rows.length) menu.values.append(element("p", { class: "hint" }, TEXT.noValues));
    const hidden = facet.distinct - facet.values.filter(({ value }) => value !== null).length;
    menu.rest.textContent = hidden > 0 ? TEXT.moreValues(hidden) : "";
    if (focused !== undefined) {
      [...menu.values.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
    }
  }

  /** @param {string} name @param {any} value @param {number} count @param {boolean} checked */
  #choice(name, value, count, checked) {
    const text = value === null ? "" : String(value);
    const onchange = (/** @type {Event} */ event) => {
      const others = this.state.all(name).filter((each) => !isSame(name, each, text));
      const isChecked = /** @type {HTMLInputElement} */ (event.target).checked;
      this.state.set({ [name]: isChecked ? [...others, text] : others });
    };
    return element(
      "label",
      { class: value === null ? "choice none" : "choice" },
      element("input", { type: "checkbox", value: text, checked, disabled: value === null, onchange }),
      element("span", { class: "label" }, this.#label(name, value)),
      " ",
      element("span", { class: "count" }, formatNumber(count)),
    );
  }

  /** @param {string} name @param {any} value @returns {string} */
  #label(name, value) {
    if (value === null) return TEXT.noValue;
    if (name === "is_open") return String(value) === "true" ? TEXT.open : String(value) === "false" ? TEXT.closed : value;
    if (this.attributes.get(name)?.kind === "flag") {
      return String(value) === "true" ? TEXT.yes : String(value) === "false" ? TEXT.no : value;
    }
    return name === "company_id" || name === "parent_company_id" ? this.actions.companyName(value) : String(value);
  }

  #nearMenu() {
    this.nearTitle = element("span", {}, TEXT.near);
    const onchange = (/** @type {Event} */ event) =>
      this.state.set({ radius: /** @type {HTMLSelectElement} */ (event.target).value });
    this.radius = element("select", { onchange });
    this.nearPart = element(
      "div",
      { class: "near-part", hidden: true },
      element("label", {}, `${TEXT.withinRadius} `, this.radius),
      element("button", { type: "button", class: "quiet", onclick: () => this.state.set({ near: "" }) }, TEXT.removePoint),
    );
    return element(
      "details",
      { class: "menu" },
      element("summary", { "data-menu": "near" }, this.nearTitle),
      element(
        "div",
        { class: "panel stack" },
        element("button", { type: "button", id: "locate", onclick: this.actions.onNear }, TEXT.myPosition),
        element("button", { type: "button", onclick: this.actions.onPick }, TEXT.pickPoint),
        this.nearPart,
      ),
    );
  }

  #drawChips() {
    const chips = [];
    for (const name of new Set(this.state.query.keys())) {
      if (NOT_CHIPS.includes(name)) continue;
      for (const value of this.state.all(name)) chips.push(this.#chip(name, value));
    }
    if (this.state.get("radius") && !this.state.get("near")) chips.push(this.#chip("radius", this.state.get("radius")));
    if (chips.length > 1 || (chips.length && this.state.get("q"))) {
      chips.push(
        element("button", { type: "button", class: "quiet", onclick: () => this.state.clear() }, TEXT.clearAll),
      );
    }
    this.parts.chips.replaceChildren(...chips);
    this.parts.chips.hidden = chips.length === 0;
  }

  /** @param {string} name @param {string} value */
  #chip(name, value) {
    const text = this.#chipText(name, value);
    return element(
      "button",
      {
        type: "button",
        class: this.actions.known.includes(name) || this.attributes.get(name)?.isFilter ? "chip" : "chip unknown",
        "data-name": name,
        "aria-label": TEXT.remove(text),
        onclick: () => this.state.remove(name, value),
      },
      element("span", {}, text),
      element("span", { class: "cross", "aria-hidden": "true" }, "×"),
    );
  }

  /** @param {string} name @param {string} value @returns {string} */
  #chipText(name, value) {
    if (name === "near") {
      const radius = Number(this.state.get("radius"));
      return radius > 0 ? TEXT.withinOf(formatDistance(radius), value) : TEXT.nearPoint(value);
    }
    if (name === "bbox") return TEXT.inArea;
    return TEXT.is(fieldLabel(name), this.#label(name, value));
  }

  #drawSuggestions() {
    const typed = folded(this.state.get("q").trim());
    const found = [];
    if (typed.length > 1) {
      for (const name of SUGGESTED) {
        for (const { value, count } of this.facets[name]?.values ?? []) {
          if (value === null || this.state.all(name).length) continue;
          const words = folded(this.#label(name, value));
          if (words.startsWith(typed) || words.includes(` ${typed}`)) found.push({ name, value, count });
        }
      }
    }
    found.sort((one, other) => other.count - one.count);
    this.parts.suggestions.replaceChildren(
      ...found.slice(0, MOST_SUGGESTIONS).map(({ name, value, count }) =>
        element(
          "button",
          { type: "button", class: "suggestion", onclick: () => this.state.set({ q: "", [name]: String(value) }) },
          element("span", { class: "kind" }, fieldLabel(name)),
          " ",
          element("span", {}, this.#label(name, value)),
          " ",
          element("span", { class: "count" }, formatNumber(count)),
        ),
      ),
    );
    this.parts.suggestions.hidden = found.length === 0;
  }
}
