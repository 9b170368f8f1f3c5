// The stores of the list for search engines, as schema.org describes them. Loaded after the first list.

import { pointOf } from "./language.js";
import { nameOf, pageOf } from "./view.js";

const SCHEMA = "https://schema.org";

/**
 * @typedef {import("./view.js").Store} Store
 * @typedef {import("./hours.js").OpeningHours} OpeningHours
 */

/**
 * Return stores as schema.org describes them, for search engines.
 * @param {Store[]} stores
 * @param {import("./view.js").Shown} shown
 * @returns {string} JSON-LD
 */
export function jsonLd(stores, { hours, host }) {
  const described = stores.map((store) => {
    const point = pointOf(store);
    const address = {
      streetAddress: [store.address_1, store.address_2].filter(Boolean).join(", "), addressLocality: store.city, addressRegion: store.province,
      postalCode: store.postal_code, addressCountry: store.country,
    };
    const page = pageOf(store, host);
    return valued({
      "@type": "Store", "@id": page, url: page, name: nameOf(store), address: { "@type": "PostalAddress", ...valued(address) },
      geo: point && { "@type": "GeoCoordinates", latitude: point[0], longitude: point[1] }, telephone: store.phone_number,
      ...openingHours(store.attributes?.[hours]),
    });
  });
  return JSON.stringify({ "@context": SCHEMA, "@graph": described });
}

/** @param {OpeningHours | null | undefined} hours @returns {Record<string, any>} */
function openingHours(hours) {
  if (!hours) return {};
  const described = (/** @type {Record<string, any>[]} */ intervals) =>
    intervals.length ? intervals.map((each) => ({ "@type": "OpeningHoursSpecification", ...each })) : null;
  return {
    openingHoursSpecification: described(hours.hours.map(({ day, opens, closes }) => ({ dayOfWeek: `${SCHEMA}/${day[0].toUpperCase()}${day.slice(1)}`, opens, closes }))),
    specialOpeningHoursSpecification: described(hours.exception_hours.map(({ valid_from, valid_through, opens = "00:00", closes = "00:00" }) => (
      { validFrom: valid_from, validThrough: valid_through, opens, closes }))),
  };
}

/** @param {Record<string, any>} members @returns {Record<string, any>} those that have a value */
const valued = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => (value ?? "") !== ""));
