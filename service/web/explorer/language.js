// A language: its texts, numbers, distances, dates, and addresses in the order of their countries.

/** The languages that the element has texts in; the first is the last resort. */
const LANGUAGES = ["en", "de", "fr", "es", "it", "nl", "ja"];
// Countries where road signs have miles.
const MILES = ["US", "GB", "LR", "MM"];
const [KILOMETRE, MILE] = [{ unit: "kilometer", metres: 1000 }, { unit: "mile", metres: 1609.344 }];
// Where the postal code comes before the city, by country; elsewhere it comes last.
const CODE_FIRST =
  "AD AL AM AR AT BA BE BG BR CH CL CR CU CY CZ DE DK DO DZ EC EE EG ES ET FI FO FR GE GL GR GT HN HR HT HU IL IS IT KG KW KZ LA LI LT LU LV MA MC MD ME MG MK MT MX MZ NI NL NO PL PT PY RE RO RS SE SI SK SM SN SV TJ TN TR UA UY VA XK ZM";
/** Countries that write the largest part first. */
const LARGEST_FIRST = "CN JP KR TW";
/** Where the province is a part of the address. */
const WITH_PROVINCE = "AU BR CA CN ES IN IT JP KR MX MY NG TW US";

/**
 * @typedef {(count: number, one: string, many: string) => string} Counted writes a number with its noun
 * @typedef {ReturnType<typeof languageOf<import("./en.js").Texts>>} Language
 * @typedef {import("./attributes.js").Kind} Kind
 */

/**
 * Return a language.
 * @template Texts
 * @param {string} code that of its texts
 * @param {(counted: Counted) => Texts} texts
 * @param {string} [locale] that of numbers and dates
 * @param {string | null} [unit] `km` or `mi`; by default that of the locale's country
 */
export function languageOf(code, texts, locale = code, unit = null) {
  const isMiles = lazy(() => (unit ? unit === "mi" : MILES.includes(new Intl.Locale(locale).maximize().region ?? "")));
  const inUnit = lazy(() => (isMiles() ? MILE : KILOMETRE));
  const regions = lazy(() => new Intl.DisplayNames(locale, { type: "region" }));
  const plural = lazy(() => new Intl.PluralRules(code));
  const numbers = (/** @type {Intl.NumberFormatOptions} */ options) => {
    const made = lazy(() => new Intl.NumberFormat(locale, options));
    return (/** @type {number} */ value) => made().format(value);
  };
  const distances = lazy(() => [0, 1].map((digits) => numbers({ style: "unit", unit: inUnit().unit, maximumFractionDigits: digits })));
  const dates = (/** @type {Intl.DateTimeFormatOptions} */ options) => {
    const made = lazy(() => new Intl.DateTimeFormat(locale, options));
    return (/** @type {Date} */ date) => made().format(date);
  };
  const formatNumber = numbers({});
  // A date without a time is the same day everywhere.
  const [calendarDay, weekday, clock] = [
    dates({ dateStyle: "medium", timeZone: "UTC" }),
    dates({ weekday: "long", timeZone: "UTC" }),
    dates({ timeStyle: "short", timeZone: "UTC" }),
  ];
  const countryName = (/** @type {string} */ written) => (/^[a-z]{2}$/i.test(written) ? (regions().of(written.toUpperCase()) ?? written) : written);
  return {
    code,
    isMiles,
    TEXT: texts((count, one, many) => `${formatNumber(count)} ${plural().select(count) === "one" ? one : many}`),
    /** @type {() => number[]} radii to choose from, in metres */
    radii: () => [1, 2, 5, 10, 25, 50, 100].map((each) => Math.round(each * inUnit().metres)),
    formatNumber,
    formatPrecise: numbers({ maximumSignificantDigits: 17 }),
    formatShort: numbers({ notation: "compact", maximumSignificantDigits: 2 }),
    formatDistance: (/** @type {number} */ length) => distances()[length < 20 * inUnit().metres ? 1 : 0](length / inUnit().metres),
    formatDay: dates({ dateStyle: "medium" }),
    /** With the zone of the visitor's clock. */
    formatMoment: dates({ year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" }),
    formatDate: (/** @type {string} */ date) => calendarDay(new Date(date)),
    formatWeekday: (/** @type {string} */ date) => weekday(new Date(date)),
    /** @type {(time: string) => string} that of a clock anywhere */
    formatTime: (time) => clock(new Date(`1970-01-01T${time}Z`)),
    countryName,
    addressLines: (/** @type {Record<string, any>} */ store) => addressLines(store, countryName),
  };
}

/**
 * Return what makes a formatter when it is first used: each takes milliseconds.
 * @template T
 * @param {() => T} make
 * @returns {() => T}
 */
function lazy(make) {
  /** @type {T | undefined} */
  let made;
  return () => (made ??= make());
}

/**
 * Choose the language of texts, and that of numbers and dates with its country.
 * @param {string[]} wanted language tags, the best first; what is none is left out
 * @returns {{code: string, locale: string}}
 */
export function preferred(wanted) {
  const tags = wanted.flatMap((tag) => {
    try {
      return Intl.getCanonicalLocales(tag.replace("_", "-"));
    } catch {
      return [];
    }
  });
  const codeOf = (/** @type {string} */ tag) => tag.split("-")[0];
  const code = tags.map(codeOf).find((each) => LANGUAGES.includes(each)) ?? LANGUAGES[0];
  return { code, locale: tags.find((tag) => codeOf(tag) === code && tag !== code) ?? code };
}

/** @param {Kind | undefined} kind @param {any} value @param {Language} language @returns {string} the value of an attribute in words */
export function attributeText(kind, value, { TEXT, formatDate, formatPrecise }) {
  if (kind === "flag") return value ? TEXT.yes : TEXT.no;
  if (kind === "number") return formatPrecise(value);
  if (kind === "date") return formatDate(value);
  return kind === "list" ? value.join(", ") : value;
}

/**
 * Return the latitude and longitude of a store.
 * @param {Record<string, any>} store
 * @returns {[number, number] | null} null if it has none
 */
export function pointOf(store) {
  const [latitude, longitude] = [store.latitude, store.longitude].map((text) => (text?.trim() ? Number(text) : NaN));
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? [latitude, longitude] : null;
}

/** @param {string} list @param {string} country @returns {boolean} */
const isIn = (list, country) => list.split(" ").includes(country);

/**
 * Return the lines of the address of a store.
 * @param {Record<string, any>} store
 * @param {(code: string) => string} countryName
 * @returns {string[]}
 */
function addressLines(store, countryName) {
  const { address_1, address_2, city, province, postal_code, country } = store;
  const code = (country ?? "").toUpperCase();
  const isKnown = /^[A-Z]{2}$/.test(code);
  const shown = province && (!isKnown || isIn(WITH_PROVINCE, code)) && province !== city ? province : "";
  const name = country ? countryName(country) : "";
  if (isIn(LARGEST_FIRST, code)) {
    const town = [shown, city].filter(Boolean).join(isAsian(city) ? "" : ", ");
    const lines = [postal_code && (code === "JP" ? `〒${postal_code}` : postal_code), town + (isAsian(town) && isAsian(address_1) ? address_1 : "")];
    return [...lines, isAsian(town) && isAsian(address_1) ? "" : address_1, address_2, name].filter(Boolean);
  }
  return [address_1, address_2, townLine(code, city, shown, postal_code), name].filter(Boolean);
}

/** @param {string} code @param {string} city @param {string} province @param {string | null} postalCode @returns {string} */
function townLine(code, city, province, postalCode) {
  if (isIn(CODE_FIRST, code)) {
    return [postalCode, city].filter(Boolean).join(" ") + (province ? `, ${province}` : "");
  }
  const region = [province, postalCode].filter(Boolean).join(" ");
  return [city, region].filter(Boolean).join(["AU", "GB", "NZ"].includes(code) ? " " : ", ");
}

/** @param {string | null} text @returns {boolean} whether it is in a script without spaces */
const isAsian = (text) => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text ?? "");

/**
 * Return the link to the way to a store, on the map that devices of its visitor have.
 * @param {Record<string, any>} store
 * @param {string} address in words, for a store without a point
 * @param {string} [device] how the browser names itself
 * @returns {string}
 */
export function directionsUrl(store, address, device = navigator.userAgent) {
  const to = encodeURIComponent(destinationOf(store, address));
  return /iPhone|iPad|Macintosh/.test(device)
    ? `https://maps.apple.com/?daddr=${to}`
    : `https://www.google.com/maps/dir/?api=1&destination=${to}`;
}

/** @param {Record<string, any>} store @param {string} address @returns {string} where the way to a store ends */
export const destinationOf = (store, address) => pointOf(store)?.join(",") ?? address;
