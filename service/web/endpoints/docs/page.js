import { storedKey, takeKey } from "./key.js";

// The service may be under a prefix of the path.
const service = new URL("..", import.meta.url);

takeKey();
const spec = await (await fetch(new URL("openapi.json", service))).json();
spec.servers = [{ url: service.href.replace(/\/$/, "") }];
const [scheme] = Object.keys(spec.components.securitySchemes ?? {});
for (const { get } of Object.values(spec.paths)) {
  const limit = get.parameters?.find(({ name }) => name === "limit");
  if (limit) limit.example = 10; // a page of the default length is long to look at
}
// No validator: it would ask a server outside.
const ui = SwaggerUIBundle({
  spec,
  dom_id: "#page",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  tryItOutEnabled: false,
  validatorUrl: null,
  onComplete: () => scheme && storedKey() && ui.preauthorizeApiKey(scheme, storedKey()),
});
