// The search box: words as they are typed, and a list of places and values to choose from (a combobox).

import { element, say } from "./dom.js";

const TYPING_MILLISECONDS = 150;
const LEAST = 2; // characters for which places are looked up
const MOST_PLACES = "5";

/**
 * @typedef {{name: string, kind: "city" | "postal_code" | "postal_area", city: string | null, province: string | null,
 *   country: string | null, latitude: number, longitude: number, stores: number}} Place
 * @typedef {{kind: string, text: string, more: string, count: number, choose: () => void}} Option
 * @typedef {(typed: string) => Option[]} Suggest
 */

/** @param {Place} place @returns {string} */
const placeName = ({ name, kind }) => (kind === "postal_area" ? `${name}…` : name);

export class Search {
  /**
   * @param {{form: HTMLElement, input: HTMLInputElement, options: HTMLElement, status: HTMLElement}} parts
   * @param {import("./api.js").Api} api
   * @param {Pick<import("./state.js").State, "get" | "all" | "set">} state
   * @param {import("./language.js").Language} language
   * @param {Suggest} suggest returns the values of filters that begin like what is typed
   */
  constructor(parts, api, state, language, suggest) {
    this.parts = parts;
    this.api = api;
    this.state = state;
    this.language = language;
    this.suggest = suggest;
    /** The words that the address has, but for what is being typed. */
    this.searched = "";
    /** @type {Place[]} */
    this.places = [];
    /** @type {Option[]} */
    this.options = [];
    this.active = -1;
    this.isOpen = false;
    this.isTyping = false;
    this.timer = 0;
    this.abort = new AbortController();
    this.#listen();
  }

  /** Show the words of the address. */
  showState() {
    const words = this.state.get("q");
    if (words === this.searched) return;
    this.parts.input.value = this.searched = words;
    if (!words) this.#close();
  }

  /** Show the values that the counts of a new result have. */
  refresh() {
    if (this.isOpen) this.#draw();
  }

  /** @returns {Promise<HTMLElement | null>} a button for what may be meant by words that no store has */
  async offer() {
    const words = this.state.get("q");
    const body = words ? await this.#ask(words) : null;
    const { data: [place], suggestion } = body ?? { data: [], suggestion: null };
    if (this.state.get("q") !== words || !(place || suggestion)) return null;
    const { TEXT } = this.language;
    const onclick = () => (place ? this.goTo(place) : this.state.set({ q: suggestion }));
    return element("button", { type: "button", onclick }, place ? TEXT.nearPlace(placeName(place)) : TEXT.did(suggestion));
  }

  /** @param {Place} place show the stores near a place */
  goTo(place) {
    const near = `${place.latitude.toFixed(5)},${place.longitude.toFixed(5)}`;
    clearTimeout(this.timer);
    this.parts.input.value = this.searched = "";
    this.#close();
    this.state.set({ near, q: "", bbox: "" }, { place: placeName(place) });
  }

  #listen() {
    const { form, input } = this.parts;
    input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#typed(), TYPING_MILLISECONDS);
    });
    input.addEventListener("blur", () => {
      this.isTyping = false;
      this.#close();
    });
    input.addEventListener("keydown", (event) => this.#key(event));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search();
      this.isTyping = false;
      this.#close();
    });
    this.parts.options.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays
  }

  #search() {
    clearTimeout(this.timer);
    const { value } = this.parts.input;
    this.searched = value.trim() ? value : "";
    this.state.set({ q: this.searched }, { replace: this.isTyping });
    this.isTyping = true;
  }

  async #typed() {
    this.#search();
    this.active = -1;
    this.places = [];
    this.isOpen = this.searched !== "";
    this.#draw();
    const body = await this.#ask(this.searched);
    this.places = body?.data ?? [];
    this.#draw();
  }

  /** @param {string} words @returns {Promise<any>} null if there is no answer */
  async #ask(words) {
    this.abort.abort();
    this.abort = new AbortController();
    if ([...words.trim()].length < LEAST) return null;
    const query = new URLSearchParams({ q: words, limit: MOST_PLACES });
    for (const name of ["near", "country"]) for (const value of this.state.all(name)) query.append(name, value);
    try {
      return (await this.api.get("places", query, this.abort.signal)).body;
    } catch {
      return null; // the words are searched all the same
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.options.length) {
      event.preventDefault();
      this.isOpen = true;
      const places = this.options.length + 1; // one is the words themselves
      this.active = ((this.active + 1 + step + places) % places) - 1;
      this.#mark();
    } else if (event.key === "Enter" && this.isOpen && this.active >= 0) {
      event.preventDefault();
      this.options[this.active].choose();
    } else if (event.key === "Escape" && this.isOpen) {
      event.preventDefault();
      event.stopPropagation();
      this.#close();
    }
  }

  #close() {
    this.isOpen = false;
    this.active = -1;
    this.#mark();
  }

  #draw() {
    const { TEXT, countryName, formatNumber } = this.language;
    const places = this.places.map((place) => ({
      kind: TEXT.place[place.kind],
      text: placeName(place),
      more: [place.kind === "postal_code" ? place.city : null, place.province, place.country && countryName(place.country)].filter(Boolean).join(", "),
      count: place.stores,
      choose: () => this.goTo(place),
    }));
    this.options = [...places, ...this.suggest(this.searched)];
    this.active = Math.min(this.active, this.options.length - 1);
    this.parts.options.replaceChildren(
      ...this.options.map(({ kind, text, more, count, choose }, index) =>
        element(
          "li",
          { role: "option", id: `option-${index}`, class: "suggestion", onclick: choose },
          element("span", { class: "kind" }, kind),
          element("span", { class: "what" }, text, more ? element("span", { class: "more" }, ` ${more}`) : null),
          element("span", { class: "count" }, formatNumber(count)),
        ),
      ),
    );
    this.#mark();
  }

  /** Show whether the list is open, and what is chosen in it. */
  #mark() {
    const { input, options, status } = this.parts;
    const isShown = this.isOpen && this.options.length > 0;
    options.hidden = !isShown;
    input.setAttribute("aria-expanded", String(isShown));
    if (isShown && this.active >= 0) input.setAttribute("aria-activedescendant", `option-${this.active}`);
    else input.removeAttribute("aria-activedescendant");
    for (const [index, option] of [...options.children].entries()) option.setAttribute("aria-selected", String(index === this.active));
    say(status, isShown ? this.language.TEXT.suggested(this.options.length) : "");
  }
}
