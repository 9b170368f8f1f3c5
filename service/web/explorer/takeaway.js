// What is shown as a file: fetched with the key, which a link cannot send, and saved.

import { ApiError, BASE } from "./api.js";
import { copy, element, say } from "./dom.js";
import { TEXT, formatBytes } from "./strings.js";
import { written } from "./state.js";

/** From this size on the page asks before it downloads, and writes to the disk where the browser can. */
const LARGE_BYTES = 100e6;
const ROW_BYTES = 420; // of a record as JSON, about
const FORMATS = [
  { path: "stores.csv", label: TEXT.csv, hint: TEXT.csvHint },
  { path: "stores.csv", label: TEXT.excel, hint: TEXT.excelHint, bom: true },
  { path: "stores.ndjson", label: TEXT.ndjson, hint: TEXT.ndjsonHint },
  { path: "stores.geojson", label: TEXT.geojson, hint: TEXT.geojsonHint },
];

/** @typedef {{path: string, label: string, hint: string, bom?: boolean}} Format */

export class TakeAway {
  /**
   * @param {HTMLElement} panel
   * @param {import("./api.js").Api} api
   * @param {() => URLSearchParams} selection returns what is shown, without pages
   * @param {boolean} needsKey
   */
  constructor(panel, api, selection, needsKey) {
    this.panel = panel;
    this.api = api;
    this.selection = selection;
    this.needsKey = needsKey;
    this.total = 0;
    this.status = element("p", { class: "hint", role: "status" });
    this.hint = element("p", { class: "hint" });
    this.command = element("code", {});
    this.question = element("div", { class: "question" });
    const buttons = FORMATS.map((format) =>
      element(
        "button",
        { type: "button", class: "format", onclick: () => this.#start(format) },
        element("strong", {}, format.label),
        " ",
        element("span", { class: "hint" }, format.hint),
      ),
    );
    const copying = (/** @type {any} */ event) => copy(event.currentTarget, this.command.textContent ?? "", TEXT.copied);
    panel.replaceChildren(
      this.hint,
      element("div", { class: "formats" }, ...buttons),
      this.question,
      this.status,
      element("h3", {}, TEXT.asCommand),
      element("pre", {}, this.command),
      element("button", { type: "button", class: "quiet", onclick: copying }, TEXT.copyCommand),
    );
  }

  /** @param {number} total how many stores are selected */
  show(total) {
    this.total = total;
    this.hint.textContent = TEXT.takeAwayHint(total);
    this.command.textContent = this.#curl(FORMATS[0]);
  }

  /** @param {Format} format @returns {URLSearchParams} */
  #query(format) {
    const query = new URLSearchParams(this.selection());
    if (format.bom) query.set("bom", "true");
    return query;
  }

  /** @param {Format} format @returns {string} */
  #curl(format) {
    const query = written(this.#query(format));
    const url = `${new URL(format.path, BASE)}${query && `?${query}`}`.replaceAll("'", "%27");
    const key = this.needsKey ? "-H 'x-api-key: <your key>' " : "";
    return `curl --compressed ${key}-o ${format.path} '${url}'`;
  }

  /** @param {Format} format */
  async #start(format) {
    this.command.textContent = this.#curl(format);
    const size = this.total * ROW_BYTES;
    this.question.replaceChildren();
    if (size <= LARGE_BYTES) return this.#download(format, null);
    const answer = (/** @type {string} */ label, /** @type {() => void} */ then) =>
      element("button", { type: "button", onclick: () => (this.question.replaceChildren(), then()) }, label);
    this.question.replaceChildren(
      element("p", {}, TEXT.large(formatBytes(size))),
      answer(TEXT.takeAway, async () => this.#download(format, await this.#file(format))),
      answer(TEXT.cancel, () => {}),
    );
  }

  /** @param {Format} format @returns {Promise<any>} a file to write to, where the browser has such */
  async #file(format) {
    const picker = /** @type {any} */ (window).showSaveFilePicker;
    if (!picker) return null;
    const handle = await picker.call(window, { suggestedName: format.path });
    return handle.createWritable();
  }

  /** @param {Format} format @param {any} file */
  async #download(format, file) {
    try {
      const response = await this.api.send(format.path, this.#query(format));
      const parts = await this.#received(response, file);
      if (file) await file.close();
      else save(new Blob(parts, { type: response.headers.get("content-type") ?? "" }), format.path);
      say(this.status, TEXT.downloaded(format.path));
    } catch (error) {
      await file?.abort();
      const status = error instanceof ApiError ? error.status : 0;
      say(this.status, status ? TEXT.failed(status) : TEXT.incomplete);
    }
  }

  /** @param {Response} response @param {any} file @returns {Promise<BlobPart[]>} */
  async #received(response, file) {
    const total = Number(response.headers.get("x-total-count")) * ROW_BYTES;
    const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
    const parts = [];
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return parts;
      bytes += value.length;
      if (file) await file.write(value);
      else parts.push(value);
      say(this.status, TEXT.downloading(formatBytes(bytes), total ? Math.min(99, Math.round((100 * bytes) / total)) : 0));
    }
  }
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = /** @type {HTMLAnchorElement} */ (element("a", { href: url, download: name }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
