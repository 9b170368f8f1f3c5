// What narrows the list: menus of values with their counts, the point and radius, and what else the data has.

import { minuteOf } from "./api.js";
import { drawChips } from "./chips.js";
import { element } from "./dom.js";
import { RADII, TEXT, countryName, fieldLabel, formatDistance, formatNumber } from "./strings.js";
import { filtered, folded } from "./words.js";

/** The filters that the first request counts, in order. */
export const COUNTED = ["country", "province", "city", "company_id", "is_open"];
// Those that have a menu of their own; the others are under "More".
const NOW_MILLISECONDS = 3_600_000;
const MENUS = ["country", "province", "city", "company_id"];
const FEW = 8;
/** With more distinct values for each store, a menu of them finds nothing. */
const TOO_VARIED = 0.8;
const SUGGESTED = ["city", "province", "company_id"];
const MOST_SUGGESTIONS = 4;

/**
 * @typedef {{distinct: number, values: {value: any, count: number}[]}} Facet
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {import("./state.js").State} State
 * @typedef {{companyName: (id: string) => string, known: string[], onCount: (names: string[]) => void,
 *   onNear: () => void, onPick: () => void}} FilterActions
 * @typedef {{root: HTMLDetailsElement, title: HTMLElement, values: HTMLElement, search: HTMLInputElement, rest: HTMLElement}} Menu
 */

/** @param {string} name @param {string} one @param {string} other @returns {boolean} whether a filter takes both as one value */
const isSame = (name, one, other) => one === other || (name !== "company_id" && filtered(one) === filtered(other));

export class Filters {
  /**
   * @param {{menus: HTMLElement, chips: HTMLElement}} parts
   * @param {State} state
   * @param {FilterActions} actions
   */
  constructor(parts, state, actions) {
    this.parts = parts;
    this.state = state;
    this.actions = actions;
    this.total = 0;
    /** @type {Record<string, Facet>} */
    this.facets = {};
    /** @type {Map<string, Menu>} */
    this.menus = new Map();
    /** @type {Map<string, Attribute>} */
    this.attributes = new Map();
    this.openNow = element("button", { type: "button", "aria-pressed": "false", hidden: true, onclick: () => this.#toggleOpen() }, TEXT.openNow);
    this.more = element("div", { class: "panel stack wide" });
    this.ranges = element("div", { class: "stack" });
    const more = /** @type {HTMLDetailsElement} */ (element("details", { class: "menu", id: "more" }, element("summary", {}, TEXT.more), this.more));
    more.addEventListener("toggle", () => {
      if (!more.open) return;
      this.#countAttributes();
      this.#drawRanges();
    });
    this.parts.menus.append(this.#nearMenu(), ...MENUS.map((name) => this.#menu(name, "menu")), this.openNow, more);
    this.setAttributes([]);
  }

  /** @param {Record<string, Facet>} facets show the counts of values @param {number} [total] of how many stores */
  show(facets, total = this.total) {
    this.total = total;
    Object.assign(this.facets, facets);
    for (const name of Object.keys(facets)) if (this.menus.has(name)) this.#fill(name);
    this.showState();
  }

  /** @param {Attribute[]} attributes those that stores have; their values are counted while they are looked at */
  setAttributes(attributes) {
    for (const name of [...this.menus.keys()].filter((each) => !MENUS.includes(each))) this.menus.delete(name);
    this.attributes = new Map(attributes.map((each) => [each.name, each]));
    const counted = ["is_open", ...attributes.filter(({ hasMenu }) => hasMenu).map(({ name }) => name)];
    this.more.replaceChildren(...counted.map((name) => this.#menu(name, "part")), this.ranges);
    if (this.facets.is_open) this.#fill("is_open");
    this.openNow.hidden = !this.#hasHours;
    this.showState();
  }

  /** @returns {boolean} whether the menu of further filters is open */
  get #showsMore() {
    return /** @type {HTMLDetailsElement} */ (this.more.parentElement).open;
  }

  /** @returns {boolean} whether stores have opening hours */
  get #hasHours() {
    return [...this.attributes.values()].some(({ kind }) => kind === "hours");
  }

  /** @returns {boolean} whether stores are wanted that are open now, not at another time */
  get #isOpenNow() {
    return Math.abs(Date.parse(this.state.get("open_at")) - Date.now()) < NOW_MILLISECONDS;
  }

  #toggleOpen() {
    this.state.set({ open_at: this.#isOpenNow ? "" : minuteOf(new Date()) });
  }

  /** Count the values of attributes, whose earlier counts may be of other stores. */
  #countAttributes() {
    const names = [...this.attributes.values()].filter(({ hasMenu }) => hasMenu).map(({ name }) => name);
    for (const name of names) delete this.facets[name];
    if (names.length) this.actions.onCount(names);
  }

  /** @returns {string[]} the filters whose counts the first request has not: they are set, or the attributes in view */
  get counted() {
    return [...this.menus.keys()].filter((name) => (this.attributes.has(name) ? this.#showsMore : this.state.all(name).length));
  }

  /** Show what is set. */
  showState() {
    for (const [name, { root, title }] of this.menus) {
      const count = this.state.all(name).length;
      title.textContent = count ? TEXT.chosen(fieldLabel(name), count) : fieldLabel(name);
      title.parentElement?.classList.toggle("set", count > 0);
      root.hidden = count === 0 && !this.#isUseful(name);
    }
    this.openNow.setAttribute("aria-pressed", String(this.#isOpenNow));
    const known = [...this.actions.known, ...[...this.attributes.values()].filter(({ isFilter }) => isFilter).map(({ name }) => name), ...(this.#hasHours ? ["open_at"] : [])];
    drawChips(this.parts.chips, this.state, { known, labelOf: (name, value) => this.label(name, value) });
    this.#drawRanges();
    this.#showNear();
  }

  /** @param {string} name @returns {boolean} whether a choice of its values narrows the list, as far as is known */
  #isUseful(name) {
    const facet = this.facets[name];
    if (!facet) return true;
    return facet.distinct > 1 && (facet.distinct <= FEW || name === "company_id" || facet.distinct < TOO_VARIED * this.total);
  }

  /** Show the filters by intervals, which are loaded when their menu opens. */
  async #drawRanges() {
    if (!this.#showsMore) return;
    const { changedField, openAtField, rangeFields } = await import("./ranges.js");
    if (this.ranges.contains(document.activeElement)) return; // a person is writing there
    const ranged = [...this.attributes.values()].filter(({ kind, isFilter, show }) => (kind === "number" || kind === "date") && isFilter && show !== "never");
    this.ranges.replaceChildren(
      ...ranged.map((each) => rangeFields(each, this.state)),
      ...(this.#hasHours ? [openAtField(this.state)] : []),
      changedField(this.state),
    );
  }

  /** @param {import("./api.js").Invalid[]} items mark the chips whose values the service does not accept */
  showInvalid(items) {
    const names = items.map((item) => item.loc[1]);
    for (const chip of this.parts.chips.querySelectorAll("[data-name]")) {
      chip.classList.toggle("invalid", names.includes(/** @type {HTMLElement} */ (chip).dataset.name ?? ""));
    }
  }

  /** @param {string} name @param {"menu" | "part"} kind */
  #menu(name, kind) {
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
        { class: kind },
        element("summary", { "data-menu": name }, title),
        element("div", { class: kind === "menu" ? "panel" : "values" }, search, values, rest),
      )
    );
    root.addEventListener("toggle", () => this.#fill(name));
    this.menus.set(name, { root, title, values, search, rest });
    return root;
  }

  /** @param {string} name draw the values of a menu, which takes long, while it is open */
  #fill(name) {
    const menu = this.menus.get(name);
    const facet = this.facets[name];
    if (menu === undefined || facet === undefined || !menu.root.open) return;
    const chosen = this.state.all(name);
    const isChosen = (/** @type {any} */ value) => chosen.some((each) => isSame(name, each, String(value)));
    const listed = facet.values.map(({ value }) => String(value));
    const missing = chosen.filter((each) => !listed.some((value) => isSame(name, value, each)));
    const wanted = folded(menu.search.value);
    const rows = [...missing.map((value) => ({ value, count: 0 })), ...facet.values].filter(
      ({ value }) => !wanted || folded(this.label(name, value)).includes(wanted),
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
      element("span", { class: "label" }, this.label(name, value)),
      " ",
      element("span", { class: "count" }, formatNumber(count)),
    );
  }

  /** @param {string} name @param {any} value @returns {string} a value of a filter in words */
  label(name, value) {
    if (value === null) return TEXT.noValue;
    if (name === "country") return countryName(value);
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
    this.nearPart = element("div", { class: "near-part", hidden: true }, element("label", {}, `${TEXT.withinRadius} `, this.radius));
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

  #showNear() {
    const near = this.state.get("near") !== "";
    if (this.nearPart) this.nearPart.hidden = !near;
    this.nearTitle?.parentElement?.classList.toggle("set", near);
    if (!near) return;
    const radius = this.state.get("radius");
    const others = radius && !RADII.includes(Number(radius)) ? [Number(radius)] : [];
    this.radius?.replaceChildren(
      element("option", { value: "" }, TEXT.anyDistance),
      ...[...RADII, ...others].map((each) =>
        element("option", { value: String(each), selected: String(each) === radius }, formatDistance(each)),
      ),
    );
  }

  /** @param {string} words @returns {import("./search.js").Option[]} the values whose words begin like these */
  suggest(words) {
    const typed = folded(words.trim());
    if (typed.length < 2) return [];
    const found = SUGGESTED.filter((name) => !this.state.all(name).length).flatMap((name) =>
      (this.facets[name]?.values ?? [])
        .filter(({ value }) => value !== null && ` ${folded(this.label(name, value))}`.includes(` ${typed}`))
        .map(({ value, count }) => ({
          kind: fieldLabel(name),
          text: this.label(name, value),
          more: "",
          count,
          choose: () => this.state.set({ q: "", [name]: String(value) }),
        })),
    );
    return found.sort((one, other) => other.count - one.count).slice(0, MOST_SUGGESTIONS);
  }
}
