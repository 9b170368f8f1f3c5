// What narrows the list: menus of values with their counts, the point and radius, and what else the data has.

import { minuteOf } from "./api.js";
import { changedField, drawChips, openAtField, rangeFields } from "./conditions.js";
import { element } from "./dom.js";
import { ValueMenu } from "./menus.js";
import { TEXT, countryName, fieldLabel, formatDistance, radii } from "./strings.js";
import { folded } from "./words.js";

const NOW_MILLISECONDS = 3_600_000;
// Those that have a menu of their own; the others are under "More".
const MENUS = ["country", "province", "city", "company_id"];
const SUGGESTED = ["city", "province", "company_id"];
const MOST_SUGGESTIONS = 4;

/**
 * @typedef {import("./menus.js").Facet} Facet
 * @typedef {import("./attributes.js").Attribute} Attribute
 * @typedef {import("./state.js").State} State
 * @typedef {{companyName: (id: string) => string, known: string[], onCount: (names: string[]) => void,
 *   onFind: (name: string, words: string) => Promise<Facet["values"]>, onNear: () => void, onPick: () => void}} FilterActions
 */

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
    /** @type {Map<string, ValueMenu>} */
    this.menus = new Map();
    /** @type {Attribute[]} */
    this.attributes = [];
    this.openNow = element("button", { type: "button", "aria-pressed": "false", hidden: true, onclick: () => this.#toggleOpen() }, TEXT.openNow);
    this.values = element("div", { class: "stack" });
    this.ranges = element("div", { class: "stack" });
    const panel = element("div", { class: "panel stack broad" }, this.values, this.ranges);
    const attributes = { class: "menu", id: "more", ontoggle: () => this.#openMore() };
    this.more = /** @type {HTMLDetailsElement} */ (element("details", attributes, element("summary", {}, TEXT.more), panel));
    parts.menus.append(this.#nearMenu(), ...MENUS.map((name) => this.#menu(name, "menu")), this.openNow, this.more);
    this.setAttributes([], false);
  }

  /** @param {Record<string, Facet>} facets show the counts of values @param {number} [total] of how many stores */
  show(facets, total = this.total) {
    this.total = total;
    for (const [name, facet] of Object.entries(facets)) this.menus.get(name)?.show(facet);
    this.showState();
  }

  /** Write the names of companies, which come after the counts. */
  refresh() {
    for (const menu of this.menus.values()) if (menu.facet) menu.show(menu.facet);
    this.showState();
  }

  /**
   * @param {Attribute[]} attributes those that stores have; their values are counted while they are looked at
   * @param {boolean} [areKnown] whether the service has said which they are
   */
  setAttributes(attributes, areKnown = true) {
    this.areKnown = areKnown;
    const status = this.menus.get("is_open")?.facet;
    for (const name of [...this.menus.keys()].filter((each) => !MENUS.includes(each))) this.menus.delete(name);
    this.attributes = attributes;
    this.values.replaceChildren(...["is_open", ...this.#withMenu].map((name) => this.#menu(name, "part")));
    if (status) this.menus.get("is_open")?.show(status);
    this.openNow.hidden = !this.#hasHours;
    this.showState();
  }

  /** @returns {string[]} the attributes that have a menu */
  get #withMenu() {
    return this.attributes.filter(({ hasMenu }) => hasMenu).map(({ name }) => name);
  }

  /** @returns {boolean} whether stores have opening hours */
  get #hasHours() {
    return this.attributes.some(({ kind }) => kind === "hours");
  }

  /** @returns {boolean} whether stores are wanted that are open now, not at another time */
  get #isOpenNow() {
    return Math.abs(Date.parse(this.state.get("open_at")) - Date.now()) < NOW_MILLISECONDS;
  }

  #toggleOpen() {
    this.state.set({ open_at: this.#isOpenNow ? "" : minuteOf(new Date()) });
  }

  /** Count the values of attributes, whose earlier counts may be of other stores. */
  #openMore() {
    if (!this.more.open) return;
    const names = this.#withMenu;
    for (const name of names) if (this.menus.has(name)) /** @type {ValueMenu} */ (this.menus.get(name)).facet = undefined;
    if (names.length) this.actions.onCount(names);
    this.#drawRanges();
  }

  /** @returns {string[]} the filters whose counts the first request has not: they are set, or the attributes in view */
  get counted() {
    const ofAttributes = this.#withMenu;
    return [...this.menus.keys()].filter((name) => (ofAttributes.includes(name) ? this.more.open : this.state.all(name).length));
  }

  /** Show what is set. */
  showState() {
    for (const menu of this.menus.values()) menu.showState(this.total);
    this.openNow.setAttribute("aria-pressed", String(this.#isOpenNow));
    const own = this.attributes.filter(({ isFilter }) => isFilter).map(({ name }) => name);
    const ofHours = this.#hasHours ? ["open_at"] : [];
    const known = this.areKnown ? [...this.actions.known, ...own, ...ofHours] : [...this.state.query.keys()];
    const ofMore = ["is_open", "updated_at", ...own, ...(this.#isOpenNow ? [] : ofHours)];
    this.more.querySelector("summary")?.classList.toggle("set", ofMore.some((name) => this.state.all(name).length));
    drawChips(this.parts.chips, this.state, { known, labelOf: (name, value) => this.label(name, value) });
    this.#drawRanges();
    this.#showNear();
    this.parts.menus.querySelector("details.menu[open] > summary")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Show the filters by intervals, while their menu is open. */
  #drawRanges() {
    if (!this.more.open || this.ranges.contains(document.activeElement)) return; // a person is writing there
    const ranged = this.attributes.filter(({ kind, isFilter, show }) => (kind === "number" || kind === "date") && isFilter && show !== "never");
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

  /** @param {string} name @param {"menu" | "part"} kind @returns {HTMLElement} */
  #menu(name, kind) {
    const menu = new ValueMenu(name, kind, this.state, (...of) => this.label(...of), this.actions.onFind);
    this.menus.set(name, menu);
    return menu.root;
  }

  /** @param {string} name @param {any} value @returns {string} a value of a filter in words */
  label(name, value) {
    if (value === null) return TEXT.noValue;
    if (name === "country") return countryName(value);
    if (name === "company_id" || name === "parent_company_id") return this.actions.companyName(value);
    const isFlag = name === "is_open" || this.attributes.some((each) => each.name === name && each.kind === "flag");
    const [yes, no] = name === "is_open" ? [TEXT.open, TEXT.closedForGood] : [TEXT.yes, TEXT.no];
    return (isFlag && { true: yes, false: no }[String(value)]) || String(value);
  }

  #nearMenu() {
    this.nearTitle = element("span", {}, TEXT.near);
    this.radius = element("select", { onchange: (/** @type {any} */ event) => this.state.set({ radius: event.target.value }) });
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
    const choices = radius ? [...new Set([...radii(), Number(radius)])] : radii();
    this.radius?.replaceChildren(
      element("option", { value: "" }, TEXT.anyDistance),
      ...choices.map((each) => element("option", { value: String(each), selected: String(each) === radius }, formatDistance(each))),
    );
  }

  /** @param {string} words @returns {import("./search.js").Option[]} the values whose words begin like these */
  suggest(words) {
    const typed = folded(words.trim());
    if (typed.length < 2) return [];
    const found = SUGGESTED.filter((name) => !this.state.all(name).length).flatMap((name) =>
      (this.menus.get(name)?.facet?.values ?? [])
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
