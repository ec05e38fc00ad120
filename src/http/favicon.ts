import type { FastifyInstance } from "fastify";

/** A white V on the colour of the house, 32 by 32 pixels. */
const png = Buffer.from(
  [
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAgMAAAAOFJJnAAAACVBMVEUAAAALa13///8+n64yAAAAAXRSTlMAQObYZgAAAGxJREFUeNp90MENwC",
    "AIBVB66AjdpyP0UDw4Avs4ggeYUr5YY3rQaPIiqCAR90F0BG46Aw9dgXekeNIOUpiTOnJlrAW+jfACtj5XSEEUqDmQK24AVAJJ8QpgFmCzUYbo",
    "Hzi9rXk2OFuen/B9SwMDF1yL6OC3dwAAAABJRU5ErkJggg==",
  ].join(""),
  "base64",
);

/** Browsers ask for it on every page that names no icon of its own. */
export function registerFavicon(app: FastifyInstance): void {
  app.get("/favicon.ico", async (_request, reply) =>
    reply.type("image/png").header("Cache-Control", "public, max-age=86400").send(png),
  );
}
