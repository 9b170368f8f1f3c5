// Requests to the service: the key, errors in one form, waiting after 429 and 503, the version of the data.

/** The address of the service: this file is in a folder beside its paths. */
export const BASE = new URL("../", import.meta.url);
const KEY_HEADER = "x-api-key";
const VERSION_HEADER = "x-dataset-version";
const MOST_SECONDS = 60;

/** @typedef {{loc: string[], msg: string, type: string}} Invalid an item of a 422 */
/** @typedef {{body: any, version: string, modified: Date | null}} Answer */

/** Why there is no answer: `offline`, `key`, `invalid`, `missing` or `failed`. */
export class ApiError extends Error {
  /** @param {string} kind @param {number} [status] @param {Invalid[]} [items] */
  constructor(kind, status = 0, items = []) {
    super(kind);
    this.kind = kind;
    this.status = status;
    this.items = items;
  }
}

/** Sends requests. Events: `waiting` with status and seconds in `detail`, `answered`, `version`. */
export class Api extends EventTarget {
  /** @param {() => string} key returns the key, empty if there is none */
  constructor(key) {
    super();
    this.key = key;
    this.base = BASE;
    /** How many stores one request may ask for. */
    this.mostStores = 1000;
    /** @type {RequestCredentials} */
    this.credentials = "same-origin";
    /** Parameters of each request. @type {Record<string, string>} */
    this.parameters = {};
    /** The version of the data of the latest answer. */
    this.version = "";
  }

  /**
   * Return the JSON that a path answers.
   * @param {string} path relative to the service
   * @param {URLSearchParams | Record<string, string>} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Answer>}
   */
  async get(path, query = {}, signal = undefined) {
    const response = await this.send(path, query, signal);
    return {
      body: await response.json(),
      version: response.headers.get(VERSION_HEADER) ?? "",
      modified: date(response.headers.get("last-modified")),
    };
  }

  /**
   * Return the response of a path. Throws an ApiError, or an AbortError.
   * @param {string} path
   * @param {URLSearchParams | Record<string, string>} [query]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Response>}
   */
  async send(path, query = {}, signal = undefined) {
    const url = this.url(path, query);
    for (;;) {
      const key = this.key();
      const headers = key ? { [KEY_HEADER]: key } : undefined;
      let response;
      try {
        response = await fetch(url, { headers, signal, credentials: this.credentials });
      } catch (error) {
        if (signal?.aborted) throw error;
        throw new ApiError("offline");
      }
      if (response.status === 429 || response.status === 503) {
        response.body?.cancel();
        await this.#wait(response, signal);
        continue;
      }
      this.dispatchEvent(new Event("answered"));
      if (response.ok) {
        this.#note(response.headers.get(VERSION_HEADER));
        return response;
      }
      if (response.status !== 422) response.body?.cancel();
      if (response.status === 401) throw new ApiError("key", 401);
      if (response.status === 422) throw new ApiError("invalid", 422, (await response.json()).detail);
      throw new ApiError(response.status === 404 ? "missing" : "failed", response.status);
    }
  }

  /** @param {string} path @param {URLSearchParams | Record<string, string>} query @returns {URL} */
  url(path, query) {
    const url = new URL(path, this.base);
    url.search = new URLSearchParams([...new URLSearchParams(query), ...Object.entries(this.parameters)]).toString();
    return url;
  }

  /** @param {Response} response @param {AbortSignal | undefined} signal */
  async #wait(response, signal) {
    const seconds = Math.min(Math.max(Number(response.headers.get("retry-after")) || 1, 1), MOST_SECONDS);
    for (let left = seconds; left > 0; left--) {
      this.dispatchEvent(new CustomEvent("waiting", { detail: { status: response.status, seconds: left } }));
      await pause(1000, signal);
    }
  }

  /** @param {string | null} version */
  #note(version) {
    if (!version || version === this.version) return;
    const isNew = this.version !== "";
    this.version = version;
    if (isNew) this.dispatchEvent(new Event("version"));
  }
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** @param {string | null} text @returns {Date | null} */
function date(text) {
  const found = text === null ? NaN : Date.parse(text);
  return Number.isNaN(found) ? null : new Date(found);
}

/** @param {Date} time @returns {string} a minute as the value of `open_at` */
export const minuteOf = (time) => `${time.toISOString().slice(0, 16)}:00Z`;
