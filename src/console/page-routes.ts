import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { escapeHtml } from "../lib/html.ts";
import { preferredLocale } from "./page-locale.ts";

export interface ConsolePagesOptions {
  /** A style of MapLibre that the operator gives; empty: the outline of the world that is part of the console. */
  mapStyleUrl: string;
  /** The built files; by default those of the build. */
  folder?: string;
}

/** Every address of the console that can be opened directly; the application shows the page of it. */
const pages = [
  "/console/",
  "/console/alarms",
  "/console/devices",
  "/console/devices/:uid",
  "/console/people",
  "/console/people/:id",
  "/console/geofences",
  "/console/thresholds",
  "/console/account",
  "/console/sign-in",
  "/console/members",
  "/console/integrations",
  "/console/integrations/:id",
  "/console/audit",
  "/console/organization",
  "/console/operator",
];

/** Scripts are files of ours alone. Styles may be set by the map, which draws its controls so. */
function contentPolicy(mapStyleUrl: string): string {
  const mapHost = mapStyleUrl === "" ? "" : ` ${new URL(mapStyleUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    `connect-src 'self'${mapHost}`,
    `img-src 'self' data: blob:${mapHost}`,
    "media-src 'self' blob:",
    "worker-src 'self' blob:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The build puts the console beside the program; run from source it is taken from the last build. */
const builtFolder = (): string => {
  const isBuilt = import.meta.filename.endsWith(".js");
  return join(import.meta.dirname, isBuilt ? "../web" : "../../dist/web");
};

const notBuilt = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Vigil</title></head>
<body><p>The console has not been built. Run "npm run build".</p></body></html>
`;

/** The console: one page for every address, and its files, which have hashed names and never change. */
export function registerConsolePages(app: FastifyInstance, options: ConsolePagesOptions): void {
  const folder = options.folder ?? builtFolder();
  const index = join(folder, "index.html");
  const policy = contentPolicy(options.mapStyleUrl);
  const style = `<meta name="vigil-map-style" content="${escapeHtml(options.mapStyleUrl)}">\n</head>`;
  let page: string | undefined;

  app.get("/", async (_request, reply) => reply.redirect("/console/", 302));
  for (const path of pages) {
    app.get(path, async (request, reply) => {
      page ??= existsSync(index) ? readFileSync(index, "utf8").replace("</head>", () => style) : undefined;
      const locale = preferredLocale(request.headers["accept-language"]);
      return reply
        .code(page === undefined ? 503 : 200)
        .header("Content-Security-Policy", policy)
        .header("Permissions-Policy", "microphone=(self), geolocation=()")
        .type("text/html; charset=utf-8")
        .send(page?.replace('<html lang="en">', `<html lang="${locale}">`) ?? notBuilt);
    });
  }
  if (!existsSync(join(folder, "assets"))) return;
  app.register(fastifyStatic, {
    root: join(folder, "assets"),
    prefix: "/console/assets/",
    index: false,
    decorateReply: false,
    cacheControl: false,
    setHeaders: (reply) => {
      reply.header("Cache-Control", "public, max-age=31536000, immutable");
    },
  });
}
