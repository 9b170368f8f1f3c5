// Elements. Values of the data become text, never HTML.

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

/**
 * @param {string} id
 * @returns {any} the element of the page with this id
 */
export const byId = (id) => document.getElementById(id);

/** @param {string} path @returns {URL} a file beside this one */
export const fileUrl = (path) => new URL(path, import.meta.url);

/** @param {string} name @returns {string} a colour of the style sheet */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * Replace the text of an element if it changes, so that screen readers do not say it again.
 * @param {HTMLElement} target
 * @param {string} text
 */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
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

/** Close all menus. */
export function closeMenus() {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.removeAttribute("open");
}

/** Close the menus when there is a click elsewhere or Escape, and keep them inside the window. */
export function watchMenus() {
  const others = (/** @type {any} */ target) =>
    [...document.querySelectorAll("details.menu[open]")].filter((menu) => !menu.contains(target));
  document.addEventListener("click", (event) => {
    for (const menu of others(event.target)) menu.removeAttribute("open");
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
      if (!menu.matches("details.menu") || !menu.open) return;
      for (const other of others(menu)) other.removeAttribute("open");
      const panel = /** @type {HTMLElement} */ (menu.querySelector(".panel"));
      panel.style.left = "";
      panel.style.top = "";
      const place = menu.getBoundingClientRect();
      const size = panel.getBoundingClientRect();
      panel.style.left = `${Math.max(8, Math.min(place.left, document.documentElement.clientWidth - size.width - 8))}px`;
      const below = place.bottom + 6;
      const above = place.top - 6 - size.height;
      panel.style.top = `${below + size.height > innerHeight && above > 0 ? above : below}px`;
    },
    true,
  );
}
