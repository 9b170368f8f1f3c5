// All texts of the page, in English. Another language is another file like this one.

import { PREFIX } from "./attributes.js";

/** The language of numbers, distances and dates. */
export const LOCALE = navigator.language || "en";

const regions = new Intl.DisplayNames(LOCALE, { type: "region" });
const number = new Intl.NumberFormat(LOCALE);
const precise = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 17 });
const compact = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumSignificantDigits: 2 });
/** Return what formats dates, made when it is first used: that takes long. @param {Intl.DateTimeFormatOptions} options */
function dates(options) {
  /** @type {Intl.DateTimeFormat | undefined} */
  let made;
  return { format: (/** @type {Date} */ date) => (made ??= new Intl.DateTimeFormat(LOCALE, options)).format(date) };
}
const day = dates({ dateStyle: "medium" });
// A date without a time is the same day everywhere.
const calendarDay = dates({ dateStyle: "medium", timeZone: "UTC" });
const weekday = dates({ weekday: "long", timeZone: "UTC" });
const clock = dates({ timeStyle: "short", timeZone: "UTC" });
const moment = dates({ dateStyle: "medium", timeStyle: "short" });
const plural = new Intl.PluralRules("en");

// Countries where road signs have miles.
const MILES = ["US", "GB", "LR", "MM"];
/** Whether distances are in miles. */
export const IN_MILES = MILES.includes(new Intl.Locale(LOCALE).maximize().region ?? "");
const METRES = IN_MILES ? 1609.344 : 1000;
const unit = IN_MILES ? "mile" : "kilometer";
const distances = [0, 1].map(
  (digits) => new Intl.NumberFormat(LOCALE, { style: "unit", unit, maximumFractionDigits: digits }),
);

/** @type {(value: number) => string} */
export const formatNumber = (value) => number.format(value);
/** @type {(value: number) => string} */
export const formatPrecise = (value) => precise.format(value);
/** @type {(value: number) => string} */
export const formatShort = (value) => compact.format(value);
/** @type {(metres: number) => string} */
export const formatDistance = (metres) => distances[metres < 20 * METRES ? 1 : 0].format(metres / METRES);
/** @type {(date: Date) => string} */
export const formatDay = (date) => day.format(date);
/** @type {(date: string) => string} */
export const formatDate = (date) => calendarDay.format(new Date(date));
/** @type {(date: string) => string} */
export const formatWeekday = (date) => weekday.format(new Date(date));
/** @type {(time: string) => string} that of a clock anywhere */
export const formatTime = (time) => clock.format(new Date(`1970-01-01T${time}Z`));
/** @type {(date: Date) => string} */
export const formatMoment = (date) => moment.format(date);
/** @type {(bytes: number) => string} */
export const formatBytes = (bytes) =>
  new Intl.NumberFormat(LOCALE, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 }).format(bytes / 1e6);

/** @type {(code: string) => string} */
export const countryName = (code) => (/^[a-z]{2}$/i.test(code) ? (regions.of(code.toUpperCase()) ?? code) : code);

/** The radii to choose from, in metres. */
export const RADII = [1, 2, 5, 10, 25, 50, 100].map((each) => Math.round(each * METRES));

/** @type {(count: number, one: string, many: string) => string} */
const counted = (count, one, many) => `${number.format(count)} ${plural.select(count) === "one" ? one : many}`;

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
  suggestions: "Suggestions",
  filters: "Filters",
  pageMenu: "Page",
  views: "View",
  pages: "Pages",
  store: "Store",
  skip: "Skip to the list",
  searchLabel: "Search stores",
  searchHint: "Search for a place, name, address, postal code or company",
  api: "API",
  open: "Open",
  closed: "Closed",
  yes: "Yes",
  no: "No",
  noValue: "No value",
  none: "–",
  stores: (/** @type {number} */ count) => counted(count, "store", "stores"),
  companies: (/** @type {number} */ count) => counted(count, "company", "companies"),
  found: (/** @type {number} */ count) => `${counted(count, "store", "stores")} found`,
  range: (/** @type {number} */ first, /** @type {number} */ last, /** @type {number} */ total) =>
    `${number.format(first)}–${number.format(last)} of ${counted(total, "store", "stores")}`,
  page: (/** @type {number} */ page, /** @type {number} */ pages) =>
    `Page ${number.format(page)} of ${number.format(pages)}`,
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
  emptyArea: "No store in this area",
  emptyAreaHint: "Zoom out, or look at all areas.",
  allAreas: "Look at all areas",
  emptyTitle: "No store matches",
  emptyHint: "Remove a filter, or search for fewer words.",
  emptyPage: "There is no such page.",
  firstPage: "Go to the first page",
  clearAll: "Clear all",
  chosen: (/** @type {string} */ label, /** @type {number} */ count) => `${label} · ${count}`,
  findIn: (/** @type {string} */ label) => `Find in ${label.toLowerCase()}`,
  moreValues: (/** @type {number} */ count) => `${counted(count, "value is", "values are")} not listed: search for them`,
  noValues: "No values",
  remove: (/** @type {string} */ what) => `Remove ${what}`,
  is: (/** @type {string} */ label, /** @type {string} */ value) => `${label}: ${value}`,
  did: (/** @type {string} */ name) => `Did you mean ${name}?`,
  unknown: (/** @type {string} */ name) => `“${name}” is no filter, and has no effect`,
  more: "More filters",
  openNow: "Open now",
  openUntil: (/** @type {string} */ time) => `Open until ${time}`,
  opens: (/** @type {string} */ time) => `Closed, opens ${time}`,
  tomorrow: "tomorrow",
  allDay: "all day",
  today: (/** @type {string} */ hours) => `Today: ${hours}`,
  exceptions: "Other hours soon",
  openAt: "Open at",
  openAtTime: (/** @type {string} */ time) => `Open at ${time}`,
  suggested: (/** @type {number} */ count) => `${counted(count, "suggestion", "suggestions")}, choose with the arrow keys`,
  from: (/** @type {string} */ label) => `${label} from`,
  to: (/** @type {string} */ label) => `${label} up to`,
  changedSince: "Changed since",
  between: (/** @type {string} */ from, /** @type {string} */ to) => (from && to ? `${from} to ${to}` : from ? `from ${from}` : `up to ${to}`),

  near: "Near",
  nearPlace: (/** @type {string} */ name) => `Stores near ${name}`,
  place: { city: "Place", postal_code: "Postal code", postal_area: "Postal area" },
  myPosition: "Use my position",
  pickPoint: "Pick a point on the map",
  picking: "Click on the map to choose the point. Escape cancels.",
  locating: "Waiting for the position…",
  noPosition: "The browser gives no position. Pick a point on the map instead.",
  withinRadius: "Within",
  anyDistance: "Any distance",
  nearPoint: (/** @type {string} */ point) => `Near ${point}`,
  withinOf: (/** @type {string} */ distance, /** @type {string} */ point) => `Within ${distance} of ${point}`,
  inArea: "In this map area",

  searchArea: "Search this area",
  mapLabel: "Map of the stores",
  cluster: (/** @type {number} */ count) => counted(count, "store", "stores"),
  nearestOnly: (/** @type {number} */ shown) => `The map shows the nearest ${number.format(shown)}.`,
  noMap: "The map cannot be shown. The list has everything.",
  mapTab: "Map",
  listTab: "List",
  baseMap: "Natural Earth",

  noStreets: "This map has no streets. The operator can add them with --tiles.",

  close: "Close",
  directions: "Directions",
  call: "Call",
  website: "Website",
  lower: "Show the map",
  raise: "Show the store",
  loading: "Loading…",
  copyId: "Copy ID",
  copyPoint: "Copy coordinates",
  copyLink: "Copy link",
  copied: "Copied",
  nearThis: "Stores nearby",
  onMap: "Show on map",
  company: "Company",
  details: "Details",
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

  offline: "The service cannot be reached.",
  offlineHint: "The page tries again when the connection is back.",
  retry: "Try again",
  waiting: (/** @type {number} */ seconds) =>
    `Too many requests. The page goes on by itself in ${counted(seconds, "second", "seconds")}.`,
  unavailable: (/** @type {number} */ seconds) =>
    `The service is not ready. The page tries again in ${counted(seconds, "second", "seconds")}.`,
  failed: (/** @type {number} */ status) => `The service answered with an error (${status}).`,
  invalidTitle: "The service does not accept a value of this address",
};
