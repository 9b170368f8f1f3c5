// All texts of the page, in English: those of its own, and those that it shares with the element <store-locator>.

import { PREFIX } from "./attributes.js";
import { texts } from "./en.js";
import { attributeText, languageOf } from "./language.js";

/** The language of numbers, distances and dates. */
export const LOCALE = navigator.language || "en";

const english = languageOf("en", texts, LOCALE);
export const {
  radii, formatNumber, formatPrecise, formatShort, formatDistance, formatDay, formatDate, formatMoment, countryName, addressLines,
} = english;
/** @type {(bytes: number) => string} */
export const formatBytes = (bytes) =>
  new Intl.NumberFormat(LOCALE, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 }).format(bytes / 1e6);

/** @type {(time: Date) => string} the zone of the visitor's clock */
export const formatZone = (time) =>
  new Intl.DateTimeFormat(LOCALE, { timeZoneName: "short" }).formatToParts(time).find(({ type }) => type === "timeZoneName")?.value ?? "";

/** @type {(count: number, one: string, many: string) => string} */
const counted = (count, one, many) => `${formatNumber(count)} ${count === 1 ? one : many}`;

const FIELDS = {
  store_id: "Store ID",
  company_id: "Company",
  parent_company_id: "Parent company",
  name: "Name",
  address_1: "Address",
  address_2: "Address, line 2",
  city: "City",
  province: "Province",
  country: "Country",
  postal_code: "Postal code",
  phone_number: "Phone",
  is_open: "Status",
  latitude: "Latitude",
  longitude: "Longitude",
  created_at: "Created",
  updated_at: "Updated",
  distance: "Distance",
  near: "Near",
  radius: "Radius",
  bbox: "Map area",
  q: "Search",
  limit: "Rows per page",
  page_num: "Page",
  sort_by: "Sort by",
  sort_order: "Sort order",
  fields: "Columns",
};

/** Labels of attributes, as the data declares them. @type {Map<string, string>} */
const labels = new Map();

/** @param {{name: string, label: string}[]} attributes use the labels that they declare */
export function setLabels(attributes) {
  labels.clear();
  for (const { name, label } of attributes) if (label) labels.set(name, label);
}

/** @type {(name: string) => string} */
export const fieldLabel = (name) => {
  if (Object.hasOwn(FIELDS, name)) return FIELDS[/** @type {keyof typeof FIELDS} */ (name)];
  if (!name.startsWith(PREFIX)) return name;
  if (labels.has(name)) return labels.get(name) ?? "";
  const words = name.slice(PREFIX.length).replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const TEXT = {
  ...english.TEXT,
  filters: "Filters",
  pageMenu: "Page",
  views: "View",
  pages: "Pages",
  skip: "Skip to the list",
  searchHint: "Search for a place, name, address, postal code or company",
  api: "API",
  noValue: "No value",
  none: "–",
  stores: (/** @type {number} */ count) => counted(count, "store", "stores"),
  companies: (/** @type {number} */ count) => counted(count, "company", "companies"),
  range: (/** @type {number} */ first, /** @type {number} */ last, /** @type {number} */ total) =>
    `${formatNumber(first)}–${formatNumber(last)} of ${counted(total, "store", "stores")}`,
  page: (/** @type {number} */ page, /** @type {number} */ pages) =>
    `Page ${formatNumber(page)} of ${formatNumber(pages)}`,
  previous: "Previous page",
  next: "Next page",
  perPage: "Rows",
  columns: "Columns",
  defaultColumns: "Default columns",
  tableLabel: "Stores",
  order: "Order",
  ascending: (/** @type {string} */ label) => `${label} ↑`,
  descending: (/** @type {string} */ label) => `${label} ↓`,
  sortBy: (/** @type {string} */ label) => `Sort by ${label}`,

  noStores: "There are no stores",
  noStoresHint: "The data that is served has none yet. The page shows them as soon as it has.",
  emptyWordsHint: "Check the spelling, or search for fewer words.",
  emptyArea: "No store in this area",
  emptyAreaHint: "Zoom out, or look at all areas.",
  allAreas: "Look at all areas",
  emptyPage: "There is no such page.",
  firstPage: "Go to the first page",
  clearAll: "Clear all",
  remove: (/** @type {string} */ what) => `Remove ${what}`,
  chosen: (/** @type {string} */ label, /** @type {number} */ count) => `${label} · ${count}`,
  findIn: (/** @type {string} */ label) => `Find in ${label.toLowerCase()}`,
  moreValues: (/** @type {number} */ count) => `${counted(count, "value is", "values are")} not listed: search for them`,
  noValues: "No values",
  is: (/** @type {string} */ label, /** @type {string} */ value) => `${label}: ${value}`,
  unknown: (/** @type {string} */ name) => `“${name}” is no filter, and has no effect`,
  more: "More filters",
  openAt: (/** @type {string} */ zone) => `Open at (your time, ${zone})`,
  openAtTime: (/** @type {string} */ time) => `Open at ${time}`,
  from: "From",
  to: "Up to",
  changedSince: "Changed since",
  between: (/** @type {string} */ from, /** @type {string} */ to) => (from && to ? `${from} to ${to}` : from ? `from ${from}` : `up to ${to}`),

  near: "Near",
  pickPoint: "Pick a point on the map",
  picking: "Choose the point on the map",
  noPosition: "The browser gives no position. Pick a point on the map instead.",
  aPoint: "a point on the map",
  nearPoint: (/** @type {string} */ point) => `Near ${point}`,
  withinOf: (/** @type {string} */ distance, /** @type {string} */ point) => `Within ${distance} of ${point}`,
  inArea: "In this map area",

  searchArea: "Search this area",
  mapTab: "Map",
  listTab: "List",

  unplaced: (/** @type {number} */ count) => `${formatNumber(count)} not on the map`,
  noStreets: "This map has no streets. The operator can add them with --tiles.",

  website: "Website",
  lower: "Show the map",
  raise: "Show the store",
  copyId: "Copy ID",
  copyPoint: "Copy coordinates",
  copyLink: "Copy link",
  copied: "Copied",
  nearThis: "Stores nearby",
  onMap: "Show on map",
  company: "Company",
  details: "Details",
  hoursUnknown: "Hours unknown",
  gone: "This store is not in the data (any more).",
  notLocated: "This store has no coordinates on the map.",

  takeAway: "Download",
  takeAwayHint: (/** @type {number} */ count) => `${counted(count, "store", "stores")}, as filtered and sorted here`,
  csv: "CSV",
  csvHint: "for programs",
  excel: "CSV for Excel",
  excelHint: "with a byte order mark",
  ndjson: "NDJSON",
  ndjsonHint: "one JSON record a line",
  geojson: "GeoJSON",
  geojsonHint: "for maps",
  asCommand: "As a command",
  copyCommand: "Copy",
  downloading: (/** @type {string} */ size, /** @type {number} */ share) =>
    share ? `${size} received, ${share} %` : `${size} received`,
  downloaded: (/** @type {string} */ name) => `${name} is saved`,
  incomplete: "The download broke off. Try again.",
  large: (/** @type {string} */ size) =>
    `This is about ${size}. The command below writes it without the browser. Download it here anyway?`,
  cancel: "Cancel",

  age: (/** @type {string} */ date) => `Data of ${date}`,
  version: (/** @type {string} */ version) => `Version ${version}`,
  newData: "Newer data is served.",
  reload: "Show it",

  keyTitle: "An API key is needed",
  keyWrong: "The service does not accept this key. It may be mistyped, expired or revoked.",
  keyLabel: "API key",
  keyRemember: "Remember on this device",
  keySubmit: "Open",
  keyHelp:
    "Keys come from the operator of the service. Started without one, it prints a link that has a key; the command “store-directory keys new” makes more.",
  keyMenu: "Key",
  keyForget: "Forget the key",
  keyKept: "This browser keeps the key on this device.",
  keyOfTab: "This tab has the key until it is closed.",

  offlineHint: "The page tries again when the connection is back.",
  noSuchValue: "There is no such value.",
  invalidTitle: "The service does not accept a value of this address",
};

/** What modules that are shared with the element get as theirs. */
export const LANGUAGE = { ...english, TEXT };

/** @param {string} name @param {any} value @returns {string} a value of a record in words */
export function formatValue(name, value) {
  if (value === null || value === undefined || value === "") return TEXT.none;
  if (name === "is_open") return value ? TEXT.open : TEXT.closedForGood;
  if (name === "distance") return formatDistance(value);
  if (name === "country") return countryName(value);
  const isDate = ["created_at", "updated_at"].includes(name) && !Number.isNaN(Date.parse(value));
  return isDate ? formatDay(new Date(value)) : String(value);
}

/** @type {(kind: import("./attributes.js").Kind | undefined, value: any) => string} that of an attribute */
export const formatAttribute = (kind, value) => (value === null || value === undefined ? TEXT.none : attributeText(kind, value, LANGUAGE));
