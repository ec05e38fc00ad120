import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { registerDescription } from "./description-routes.ts";

const root = "/api/schema";

/** Both pages are complete in themselves: no font, script or image comes from another host. */
const docsContentPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const swaggerPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Vigil partner API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/png" href="/favicon.ico">
<link rel="stylesheet" href="${root}/assets/swagger/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${root}/assets/swagger/swagger-ui-bundle.js"></script>
<script src="${root}/assets/swagger-start.js"></script>
</body>
</html>
`;

const swaggerStart = `window.ui = SwaggerUIBundle({
  url: "${root}/?format=json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
});
window.ui.initOAuth({ scopes: "org:read catalog:read" });
`;

const redocPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Vigil partner API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/png" href="/favicon.ico">
<style>body { margin: 0; }</style>
</head>
<body>
<div id="redoc"></div>
<script src="${root}/assets/redoc.standalone.js"></script>
<script src="${root}/assets/redoc-start.js"></script>
</body>
</html>
`;

const redocStart = `Redoc.init("${root}/?format=json", { hideLoading: true, disableSearch: false, sortTagsAlphabetically: false },
  document.getElementById("redoc"));
`;

/** The description, Swagger UI and ReDoc. None of them needs a token. */
export function registerDocs(app: FastifyInstance, describe: () => Record<string, unknown>): void {
  registerDescription(app, `${root}/`, describe);

  const page = (path: string, type: string, text: string): void => {
    app.get(`${root}/${path}`, async (_request, reply) =>
      reply.header("Content-Security-Policy", docsContentPolicy).type(`${type}; charset=utf-8`).send(text),
    );
  };
  page("swagger/", "text/html", swaggerPage);
  page("redoc/", "text/html", redocPage);
  page("assets/swagger-start.js", "text/javascript", swaggerStart);
  page("assets/redoc-start.js", "text/javascript", redocStart);

  const require = createRequire(import.meta.url);
  app.register(fastifyStatic, {
    root: dirname(require.resolve("swagger-ui-dist/package.json")),
    prefix: `${root}/assets/swagger/`,
    index: false,
    decorateReply: false,
    allowedPath: (path) => /^\/?(swagger-ui\.css|swagger-ui-bundle\.js)$/.test(path),
  });
  let redoc: Promise<string> | undefined;
  app.get(`${root}/assets/redoc.standalone.js`, async (_request, reply) => {
    redoc ??= readFile(redocBundle(require), "utf8").then((text) => text.replaceAll(redocLogo, noImage));
    return reply
      .type("text/javascript; charset=utf-8")
      .header("Cache-Control", "public, max-age=3600")
      .send(await redoc);
  });
}

/** The bundle shows the logo of its makers from their host, and nothing when the image cannot be loaded. */
const redocLogo = "https://cdn.redoc.ly/redoc/logo-mini.svg";
const noImage = "data:,";

/** The build copies the bundle beside the program; run from source it is taken from the development dependency. */
function redocBundle(require: NodeJS.Require): string {
  const isBuilt = import.meta.filename.endsWith(".js");
  return isBuilt
    ? join(import.meta.dirname, "../assets/redoc.standalone.js")
    : require.resolve("redoc/bundles/redoc.standalone.js");
}
