// What is below and above the table: pages, the order, the choice of columns.

import { element } from "./dom.js";
import { ROWS } from "./results.js";
import { TEXT, fieldLabel, formatNumber } from "./strings.js";

const ORDERS = ["name", "city", "country", "created_at", "updated_at"];
const ROW_CHOICES = [25, 50, 100, 250, 1000];

/**
 * @typedef {import("./list.js").Page} Page
 * @typedef {(values: Record<string, string>) => void} OnChange
 */

/**
 * Draw the pages, if there are several.
 * @param {HTMLElement} root
 * @param {Page} page
 * @param {OnChange} onChange
 */
export function drawPager(root, page, onChange) {
  const { page_num: current, num_pages: pages, limit, total_count: total } = page;
  const first = (current - 1) * limit + 1;
  root.hidden = total <= limit && current === 1 && limit === ROWS;
  const move = (/** @type {number} */ to, /** @type {string} */ label, /** @type {string} */ sign) =>
    element(
      "button",
      {
        type: "button",
        title: label,
        "aria-label": label,
        disabled: to < 1 || to > pages,
        onclick: () => onChange({ page_num: to === 1 ? "" : String(to) }),
      },
      sign,
    );
  const choices = [...new Set([...ROW_CHOICES, limit])].sort((one, other) => one - other);
  const onchange = (/** @type {Event} */ event) => {
    const value = /** @type {HTMLSelectElement} */ (event.target).value;
    onChange({ limit: value === String(ROWS) ? "" : value });
  };
  const select = element(
    "select",
    { onchange },
    ...choices.map((each) => element("option", { value: String(each), selected: each === limit }, formatNumber(each))),
  );
  root.replaceChildren(
    element("span", { class: "range" }, page.data.length ? TEXT.range(first, first + page.data.length - 1, total) : ""),
    element("label", { class: "rows" }, `${TEXT.perPage} `, select),
    element("span", { class: "pages" }, pages > 1 ? TEXT.page(current, pages) : ""),
    move(Math.min(current - 1, Math.max(pages, 1)), TEXT.previous, "‹"),
    move(current + 1, TEXT.next, "›"),
  );
}

/**
 * Draw the choice of the order.
 * @param {HTMLSelectElement} select
 * @param {Page} page
 * @param {boolean} near
 */
export function drawOrder(select, page, near) {
  const current = `${page.sort_by} ${page.sort_order}`;
  const options = [...(near ? ["distance"] : []), ...ORDERS].flatMap((name) => [
    { value: `${name} asc`, text: TEXT.ascending(fieldLabel(name)) },
    { value: `${name} desc`, text: TEXT.descending(fieldLabel(name)) },
  ]);
  if (!options.some(({ value }) => value === current)) options.unshift({ value: current, text: fieldLabel(page.sort_by) });
  select.replaceChildren(
    ...options.map(({ value, text }) => element("option", { value, selected: value === current }, text)),
  );
}

/**
 * Draw the choice of columns.
 * @param {HTMLElement} root
 * @param {string[]} known
 * @param {string[]} shown
 * @param {boolean} isChosen whether they are not the usual ones
 * @param {OnChange} onChange
 */
export function drawColumns(root, known, shown, isChosen, onChange) {
  const onchange = () => {
    const chosen = [...root.querySelectorAll("input")].filter((box) => box.checked).map((box) => box.value);
    if (chosen.length) onChange({ fields: chosen.join(",") });
  };
  const boxes = known.map((name) =>
    element(
      "label",
      { class: "choice" },
      element("input", { type: "checkbox", value: name, checked: shown.includes(name), onchange }),
      element("span", { class: "label" }, fieldLabel(name)),
    ),
  );
  const reset = { type: "button", class: "quiet", disabled: !isChosen, onclick: () => onChange({ fields: "" }) };
  const focused = /** @type {HTMLInputElement | null} */ (root.querySelector("input:focus"))?.value;
  root.replaceChildren(element("div", { class: "choices" }, ...boxes), element("button", reset, TEXT.defaultColumns));
  if (focused) [...root.querySelectorAll("input")].find((box) => box.value === focused)?.focus();
}
