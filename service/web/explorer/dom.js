// Elements. Values of the data become text, never HTML.

const WEB = /^https?:\/\//i;

/**
 * Make an element.
 * @param {string} name
 * @param {Record<string, any>} [attributes] `on…` are listeners; null and false are left out, true is an empty attribute
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** @param {boolean | null} isOpen @param {string} text @returns {HTMLElement} whether a store is open, not by colour alone */
export const badge = (isOpen, text) => element("span", { class: `badge ${isOpen === null ? "" : isOpen ? "open" : "closed"}` }, text);

/** @param {string} number @returns {string} the URL that calls a number, of several the first */
export const callUrl = (number) => `tel:${number.split(/[;/]|ext/i)[0].replace(/[^+\d]/g, "")}`;

/** @param {string} href @param {string} text @param {Record<string, any>} [more] @returns {HTMLElement} a link to another site */
export function siteLink(href, text, more = {}) {
  return element("a", { href, rel: "noopener noreferrer", target: "_blank", ...more }, text);
}

/** @param {string} url @returns {string} a URL as people write it */
const shortUrl = (url) => url.replace(WEB, "").replace(/\/$/, "");

/**
 * Return an attribute as a card shows it: links, calls, pictures from origins that may be shown.
 * @param {import("./attributes.js").Kind} kind
 * @param {any} value
 * @param {string} text the value in words
 * @param {string} label
 * @param {string[]} images origins
 * @returns {Node | string}
 */
export function attributeNode(kind, value, text, label, images) {
  if (kind === "list") {
    return element("ul", { class: "items" }, ...value.map((/** @type {string} */ each) => element("li", {}, each)));
  }
  if (kind === "email") return element("a", { href: `mailto:${encodeURIComponent(value).replace("%40", "@")}` }, value);
  if (kind === "phone") return element("a", { href: callUrl(value) }, value);
  if (kind === "image" && images.includes(originOf(value))) {
    return element("img", { src: value, alt: label, loading: "lazy", referrerpolicy: "no-referrer" });
  }
  return (kind === "url" || kind === "image") && WEB.test(value)
    ? siteLink(value, shortUrl(value), { title: value })
    : text;
}

/** @param {string} url @returns {string} its origin, or an empty string if it is not a URL */
function originOf(url) {
  return URL.canParse(url) ? new URL(url).origin : "";
}

/**
 * @param {string} id
 * @returns {any} the element of the page with this id
 */
export const byId = (id) => document.getElementById(id);

/** @param {string} path @returns {URL} a file beside this one */
export const fileUrl = (path) => new URL(path, import.meta.url);

/** @param {string} name @param {Element} root @returns {string} a colour that the style sheet has there */
export const colour = (name, root) => getComputedStyle(root).getPropertyValue(name).trim();

/**
 * Replace the text of an element if it changes, so that screen readers do not say it again.
 * @param {HTMLElement} target
 * @param {string} text
 */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Find the browser's position.
 * @param {{locating: string, noPosition: string}} texts
 * @param {(text: string) => void} tell
 * @param {(near: string) => void} then
 */
export function locate({ locating, noPosition }, tell, then) {
  const failed = () => tell(noPosition);
  tell(locating);
  if (!navigator.geolocation) return failed();
  const found = (/** @type {GeolocationPosition} */ { coords: { latitude, longitude } }) => {
    tell("");
    then(`${latitude.toFixed(5)},${longitude.toFixed(5)}`);
  };
  navigator.geolocation.getCurrentPosition(found, failed, { timeout: 15_000, maximumAge: 60_000 });
}

/**
 * Copy a text, and say so on the button for a moment.
 * @param {HTMLElement} button
 * @param {string} text
 * @param {string} done
 */
export async function copy(button, text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = /** @type {HTMLTextAreaElement} */ (element("textarea", { class: "hidden" }));
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy"); // where a page without TLS has no clipboard
    field.remove();
  }
  const label = button.textContent ?? "";
  if (label === done) return;
  button.textContent = done;
  setTimeout(() => (button.textContent = label), 1500);
}
