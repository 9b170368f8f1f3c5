// The public page: the element with the conditions of the address, in the visitor's language.

import { preferred } from "../embed/language.js";
import { PARAMETERS } from "../embed/store-locator.js";

document.documentElement.lang = preferred([...navigator.languages]).code;
const locator = /** @type {HTMLElement} */ (document.querySelector("store-locator"));
const query = new URLSearchParams(location.search);
for (const [attribute, name] of Object.entries(PARAMETERS)) {
  if (query.get(name)) locator.setAttribute(attribute, query.getAll(name).join(","));
}
