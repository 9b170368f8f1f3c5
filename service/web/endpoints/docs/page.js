// The page of the API: a first request, with examples of this data, and the reference.

import { storeKey, storedKey, takeKey } from "./key.js";

// The service may be under a prefix of the path.
const SERVICE = new URL("..", import.meta.url);
const needsKey = document.body.dataset.key === "needed";
const MOST_CHARACTERS = 20_000;
const GROUPS = {
  Stores: /^\/stores(\/|$)/,
  Companies: /^\/companies(\/|$)/,
  "Places and map": /^\/(places|clusters)$/,
  "Whole results as files": /\.\w+$/,
};

const byId = (id) => document.getElementById(id);
const urlOf = (line) => new URL(line.trim().replace(/^\/+/, ""), SERVICE);

/** Fill in nothing but a short page: what a parameter may be, and is if it is left out, is said in its description. */
function withHints(parameter) {
  const { example, schema, description = "" } = parameter;
  const hint = (label, value) => (value === undefined ? "" : ` ${label}: \`${[value].flat().join(",")}\`.`);
  const hints = hint("Example", example) + hint("Default", schema.default);
  const { default: _, ...rest } = schema;
  const shown = { ...parameter, schema: rest, description: description + hints };
  if (parameter.name === "limit") return { ...shown, example: 10 };
  delete shown.example;
  return shown;
}

/** Of errors, only what they mean: drawing their headers and bodies takes as long as all the rest. */
function withShortErrors(responses) {
  const shown = ([status, response]) => [status, status < "300" ? response : { description: response.description }];
  return Object.fromEntries(Object.entries(responses).map(shown));
}

/** @param {any} spec the OpenAPI document @returns {any} as the reference shows it */
function readable(spec) {
  const paths = Object.entries(spec.paths).map(([path, { get }]) => {
    const tags = Object.keys(GROUPS).filter((name) => GROUPS[name].test(path));
    const shown = { parameters: get.parameters?.map(withHints) ?? [], responses: withShortErrors(get.responses) };
    return [path, { get: { ...get, ...shown, tags: tags.length ? tags : get.tags } }];
  });
  const tags = Object.keys(GROUPS).map((name) => ({ name }));
  return { ...spec, tags, paths: Object.fromEntries(paths), servers: [{ url: SERVICE.href.replace(/\/$/, "") }] };
}

/** @param {Record<string, any>[]} stores @returns {[string, string][]} labels and requests that have an answer */
function examplesOf(stores) {
  const store = stores.find(({ city, latitude, longitude }) => city && latitude && longitude) ?? stores[0];
  const pairs = (values) => new URLSearchParams(values).toString().replaceAll("%2C", ",").replaceAll("+", "%20");
  const { store_id: id, company_id: company, name, city, latitude, longitude } = store;
  const word = name?.match(/[\p{L}\p{N}]{3,}/u)?.[0];
  return [
    ["Two stores", "/stores?limit=2"],
    city && [`Stores in ${city}`, `/stores?${pairs({ city, limit: "2" })}`],
    word && [`Search “${word}”`, `/stores?${pairs({ q: word, limit: "2" })}`],
    latitude && longitude && ["The nearest to a point", `/stores?${pairs({ near: `${latitude.trim()},${longitude.trim()}`, limit: "3", fields: "name,city,distance" })}`],
    city && ["A place by the beginning of its name", `/places?${pairs({ q: [...city].slice(0, 4).join("") })}`],
    ["How many there are by country", "/stores?facets=country&fields=store_id&limit=1"],
    ["One store", `/stores/${encodeURIComponent(id)}`],
    company && ["Its company", `/companies/${encodeURIComponent(company)}`],
    city && ["A spreadsheet", `/stores.csv?${pairs({ city, bom: "true" })}`],
  ].filter(Boolean);
}

/** @param {string} line */
function showCommand(line) {
  const key = needsKey ? "-H 'x-api-key: <your key>' " : "";
  byId("curl").textContent = `curl ${key}'${urlOf(line).href.replaceAll("'", "%27")}'`;
}

/** @param {[string, string][]} examples */
function showExamples(examples) {
  byId("examples").replaceChildren(
    ...examples.map(([label, line]) => {
      const button = document.createElement("button");
      const code = document.createElement("code");
      button.type = "button";
      code.textContent = decodeURI(line);
      button.append(label, code);
      button.addEventListener("click", () => send(line));
      return button;
    }),
  );
}

/** @param {Response} response @returns {Promise<string>} the text of a response, or its beginning */
async function textOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.length < MOST_CHARACTERS) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
  }
  reader.cancel();
  return `${text.slice(0, MOST_CHARACTERS)}\n…`;
}

/** @param {string} text @returns {string} JSON line by line; another text as it is */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** How many requests were sent. */
let sent = 0;

/** @param {string} line send a request, and show its answer */
async function send(line) {
  const number = ++sent;
  byId("request").value = line;
  showCommand(line);
  const key = storedKey();
  const begun = performance.now();
  let text = "";
  let status = "No answer: is the service running?";
  let isRight = false;
  try {
    const response = await fetch(urlOf(line), { headers: key ? { "x-api-key": key } : {} });
    status = `${response.status} ${response.statusText}, ${Math.round(performance.now() - begun)} ms`;
    isRight = response.ok;
    text = indented(await textOf(response));
    if (response.status === 401) {
      status = "The key is not accepted: enter another.";
      askForKey();
    }
    if (isRight && !byId("examples").childElementCount) showExamples(examplesOf(JSON.parse(text).data));
  } catch (error) {
    console.error(error);
  }
  if (number !== sent) return; // a newer request is shown
  byId("status").textContent = status;
  byId("status").classList.toggle("wrong", !isRight);
  byId("answer").textContent = text;
  byId("answer").hidden = !text;
}

function askForKey() {
  byId("key-form").hidden = false;
  byId("key").focus();
}

/** Show the reference, once its large script is there. @param {Response} response the OpenAPI document */
async function showReference(response) {
  const spec = await response.json();
  const program = response.headers.get("server")?.match(/store-directory\/\S+/)?.[0]; // a proxy may have another
  byId("versions").textContent = [`interface ${spec.info.version}`, program?.replace("/", " ")].filter(Boolean).join(", ");
  const script = document.createElement("script");
  script.src = new URL("swagger-ui-bundle.js", import.meta.url).href;
  await new Promise((resolve) => {
    script.addEventListener("load", resolve);
    document.head.append(script);
  });
  const [scheme] = Object.keys(spec.components.securitySchemes ?? {});
  authorize = () => scheme && storedKey() && ui.preauthorizeApiKey(scheme, storedKey());
  // No validator: it would ask a server outside.
  const ui = SwaggerUIBundle({
    spec: readable(spec),
    dom_id: "#page",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    persistAuthorization: false,
    tryItOutEnabled: false,
    validatorUrl: null,
    onComplete: () => authorize(),
  });
}

/** Give the reference the key. */
let authorize = () => {};
takeKey();
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
byId("request-form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(byId("request").value);
});
byId("request").addEventListener("input", () => showCommand(byId("request").value));
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  storeKey(byId("key").value.trim(), false);
  byId("key").value = "";
  byId("key-form").hidden = true;
  authorize();
  send(byId("request").value);
});
byId("copy").addEventListener("click", () => navigator.clipboard?.writeText(byId("curl").textContent));
showCommand(byId("request").value);
if (needsKey && !storedKey()) askForKey();
else await send(byId("request").value);
await showReference(await fetch(new URL("openapi.json", SERVICE)));
