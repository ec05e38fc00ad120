import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import { escapeHtml } from "../lib/html.ts";
import { type Locale, parseLocale } from "../resources/organizations/organization-settings.ts";
import { type LinkView, linkStatus } from "./link-view.ts";
import { preferredLocale } from "./page-locale.ts";

export interface ConsolePageOptions {
  /** A style of MapLibre that the operator gives; empty: the outline of the world that is part of the console. */
  mapStyleUrl: string;
  /** The built files; by default those of the build. */
  folder?: string;
}

/** The one page of the console, as it is sent for each of its addresses. */
export interface ConsolePage {
  folder: string;
  send(request: FastifyRequest, reply: FastifyReply, status?: 200 | 404): FastifyReply;
  /** For the address of a mailed link: with what the page has to say of it, in the language of the organization if it is known. */
  sendLink(request: FastifyRequest, reply: FastifyReply, view: LinkView, locale?: string): FastifyReply;
}

/** Scripts are files of ours alone. Styles may be set by the map, which draws its controls so. */
function contentPolicy(styles: string, mapHost: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    `connect-src 'self'${mapHost}`,
    `img-src 'self' data: blob:${mapHost}`,
    "media-src 'self' blob:",
    "worker-src 'self' blob:",
    "font-src 'self'",
    "base-uri 'none'",
    // Scripts send what is typed; a form that a browser submits by itself would put it into an address.
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

export function makeConsolePage({ mapStyleUrl, folder = builtFolder() }: ConsolePageOptions): ConsolePage {
  const index = join(folder, "index.html");
  const mapHost = mapStyleUrl === "" ? "" : ` ${new URL(mapStyleUrl).origin}`;
  const policy = contentPolicy("'self' 'unsafe-inline'", mapHost);
  // There is no map behind a mailed link.
  const linkPolicy = contentPolicy("'self'", "");
  let built: string | undefined;

  /** The page with a word for its scripts in the head. */
  function pageWith(name: string, content: string, locale: Locale): string {
    built ??= existsSync(index) ? readFileSync(index, "utf8") : undefined;
    const tag = `<meta name="${name}" content="${escapeHtml(content)}">\n</head>`;
    return (built ?? notBuilt).replace("</head>", () => tag).replace('<html lang="en">', `<html lang="${locale}">`);
  }

  return {
    folder,
    send(request, reply, status = 200) {
      const text = pageWith("vigil-map-style", mapStyleUrl, preferredLocale(request.headers["accept-language"]));
      return reply
        .code(built === undefined ? 503 : status)
        .header("Content-Security-Policy", policy)
        .header("Permissions-Policy", "microphone=(self), geolocation=()")
        .type("text/html; charset=utf-8")
        .send(text);
    },
    sendLink(request, reply, view, locale) {
      const language = parseLocale(locale ?? "") ?? preferredLocale(request.headers["accept-language"]);
      return reply
        .code(linkStatus[view.kind])
        .header("Content-Security-Policy", linkPolicy)
        .type("text/html; charset=utf-8")
        .send(pageWith("vigil-link", JSON.stringify(view), language));
    },
  };
}
