import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { pathOf } from "../http/call-context.ts";
import type { ConsolePage } from "./console-page.ts";

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
  "/console/members/access",
  "/console/integrations",
  "/console/integrations/:id",
  "/console/audit",
  "/console/organization",
  "/console/operator",
];

const notPages = ["api", "assets"];

/**
 * Whether a browser has opened an address of the console that does not exist: it is shown the console's own page of that. Programs
 * get the error that every unknown address gives.
 */
export function isMissingPage({ method, url, headers }: FastifyRequest): boolean {
  const [, root, first = ""] = pathOf(url).split("/");
  const isPage = root === "console" && !notPages.includes(first);
  return method === "GET" && isPage && headers.accept?.includes("text/html") === true;
}

/** The console: one page for every address, and its files, which have hashed names and never change. */
export function registerConsolePages(app: FastifyInstance, page: ConsolePage): void {
  app.get("/", async (_request, reply) => reply.redirect("/console/", 302));
  for (const path of pages) app.get(path, async (request, reply) => page.send(request, reply));
  const assets = join(page.folder, "assets");
  if (!existsSync(assets)) return;
  app.register(fastifyStatic, {
    root: assets,
    prefix: "/console/assets/",
    index: false,
    decorateReply: false,
    cacheControl: false,
    preCompressed: true,
    setHeaders: (reply) => {
      reply.header("Cache-Control", "public, max-age=31536000, immutable");
    },
  });
}
