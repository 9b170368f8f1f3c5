// The API key in a browser: taken from the fragment of a link, kept for this tab, or on this device if the person says so.

// One server may have several services, under prefixes of the path.
const NAME = `store-directory key ${new URL("..", import.meta.url).pathname}`;

/**
 * Take the key of a link `#key=…` out of the address, which is copied and shown to others, and keep it.
 * @returns {boolean} whether there was one
 */
export function takeKey() {
  const view = new URLSearchParams(location.hash.slice(1));
  const key = view.get("key");
  if (key === null) return false;
  view.delete("key");
  const rest = view.toString();
  history.replaceState(history.state, "", location.pathname + location.search + (rest && `#${rest}`));
  if (key) sessionStorage.setItem(NAME, key);
  return true;
}

/** @returns {string} the key, empty if there is none */
export function storedKey() {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME) ?? "";
}

/**
 * @param {string} key
 * @param {boolean} remember whether other tabs and later visits have it, too
 */
export function storeKey(key, remember) {
  forgetKey();
  (remember ? localStorage : sessionStorage).setItem(NAME, key);
}

/** Remove the key from this tab and this device. */
export function forgetKey() {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}

/** @returns {boolean} whether the key is kept on this device */
export function isRemembered() {
  return localStorage.getItem(NAME) !== null;
}
