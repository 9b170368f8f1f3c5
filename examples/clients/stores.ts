// A client of Store Directory with fetch: API_KEY=sd_… node stores.ts http://127.0.0.1:8080
// Node 22.18 and later runs it as it is: the types are erased. A browser needs --cors-origin, and its key is not secret.

import { argv, env, exit } from "node:process";
import { setTimeout as wait } from "node:timers/promises";

const ATTEMPTS = 5;
const KEY = env["API_KEY"] || missingKey();

function missingKey(): never {
  console.error("API_KEY is not set: API_KEY=sd_… node stores.ts");
  exit(2);
}

type Store = { store_id: string; name: string; distance?: number | null };
type Page = { total_count: number; data: Store[] };

// Send a request; after 429 and 503 wait as long as the service says, and try again. 304 and 412 are returned.
async function get(url: URL, headers: Record<string, string> = {}): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, {
      headers: { "x-api-key": KEY, ...headers },
      signal: AbortSignal.timeout(30_000),
    });
    const { status } = response;
    if (response.ok || status === 304 || status === 412) return response;
    const body = await response.text();
    if ((status !== 429 && status !== 503) || attempt === ATTEMPTS) throw new Error(`${url}: ${status} ${body}`);
    const seconds = Number(response.headers.get("Retry-After") ?? attempt);
    console.error(`status ${status}, trying again in ${seconds} s`);
    await wait(seconds * 1000);
  }
}

async function page(response: Response): Promise<Page> {
  return (await response.json()) as Page;
}

// The URL of the next page, which the header Link has relative to that of this page.
function nextUrl(response: Response): URL | undefined {
  const link = /<([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "");
  return link?.[1] === undefined ? undefined : new URL(link[1], response.url);
}

// A page and all that follow; data that changes meanwhile may repeat or leave out stores.
async function* pages(url: URL): AsyncGenerator<Page> {
  for (let next: URL | undefined = url; next; ) {
    const response: Response = await get(next);
    yield await page(response);
    next = nextUrl(response);
  }
}

// A data version and all of its stores; starts again if the data changes on the way.
async function storesOfOneVersion(url: URL): Promise<[string, Store[]]> {
  let version = ""; // any version
  let stores: Store[] = [];
  for (let next: URL | undefined = url; next; ) {
    const response: Response = await get(next, { "X-Dataset-Version": version });
    if (response.status === 412) {
      console.error("the data has changed, starting again");
      await response.text();
      [version, stores, next] = ["", [], url];
      continue;
    }
    version = response.headers.get("X-Dataset-Version") ?? "";
    stores.push(...(await page(response)).data);
    next = nextUrl(response);
  }
  return [version, stores];
}

function storesUrl(service: string, parameters: Record<string, string>): URL {
  return new URL(`${service}/stores?${new URLSearchParams(parameters)}`);
}

async function main(
  service = "http://127.0.0.1:8080",
  city = "Toronto",
  near = "43.65,-79.38",
  limit = "1000",
): Promise<void> {
  const found = await page(await get(storesUrl(service, { city, is_open: "true", sort_by: "name" })));
  console.log(`${found.total_count} open stores in ${city}:`, found.data.map((store) => store.name).join(", "));

  const everything = storesUrl(service, { limit });
  const walked: number[] = [];
  for await (const each of pages(everything)) walked.push(each.data.length);
  console.log(`${walked.reduce((sum, stores) => sum + stores, 0)} stores on ${walked.length} pages`);

  const [version, stores] = await storesOfOneVersion(everything);
  console.log(`${stores.length} stores of version ${version}`);

  const first = await get(everything);
  await first.text();
  const again = await get(everything, { "If-None-Match": first.headers.get("ETag") ?? "" });
  console.log(again.status === 304 ? "the first page is unchanged" : "the first page has changed");

  const nearest = await page(await get(storesUrl(service, { near, radius: "10000", limit: "3" })));
  for (const store of nearest.data) console.log(`${store.distance} m: ${store.name}`);
}

await main(...argv.slice(2));
