// Prints the stores of two cities with their distance from a point, and the errors of an invalid request.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { argv: [string, string, string, string] };

const [, , address, key] = process.argv;
// The list of stores is also GeoJSON, by Accept: this client takes JSON.
const client = createClient<paths, "application/json">({ baseUrl: address, headers: { "x-api-key": key } });
const page = await client.GET("/stores", {
  params: { query: { city: ["Toronto", "Ottawa"], near: "43.65,-79.38" } },
});
if (page.data === undefined) throw new Error(`${page.response.status}`);
for (const store of page.data.data) {
  const distance: number | null | undefined = store.distance;
  console.log(store.city, distance?.toFixed(1) ?? "unknown");
}
const refused = await client.GET("/stores", { params: { query: { limit: 0 } } });
const detail = refused.error?.detail;
if (detail === undefined || detail === null || typeof detail === "string") throw new Error(`${refused.response.status}`);
for (const item of detail) console.log(...item.loc, item.type);
