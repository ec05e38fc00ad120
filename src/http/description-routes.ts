import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { stringify } from "yaml";
import { validationError } from "../lib/errors.ts";
import { acceptedEncoding, matchesTag } from "./negotiation.ts";
import { toOpenApi31 } from "./openapi-31.ts";

type Json = Record<string, unknown>;

const forms = {
  json: { type: "application/json; charset=utf-8", write: (description: Json) => JSON.stringify(description) },
  yaml: {
    type: "application/vnd.oai.openapi; charset=utf-8",
    // Readers of YAML 1.1 take an unquoted date for a date; written for them, everything is what it is in JSON.
    write: (description: Json) => stringify(description, { aliasDuplicateObjects: false, version: "1.1" }),
  },
} as const;
type Form = keyof typeof forms;

const versions = {
  "3.0": (description: Json) => description,
  "3.1": toOpenApi31,
} as const;
type Version = keyof typeof versions;

const compressors = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const;
type Encoding = keyof typeof compressors;
const encodings = ["br", "gzip"] as const satisfies readonly Encoding[];

/** One form of the description as it goes out, with its forms for the way. */
interface Rendered {
  bytes: Buffer;
  tag: string;
  packed: Partial<Record<Encoding, Promise<Buffer>>>;
}

/**
 * The description in each version and form, without a token. Each is rendered on its first request and kept: writing YAML takes
 * longer than all the rest of a start, and few installations are ever asked for it.
 */
export function registerDescription(app: FastifyInstance, path: string, describe: () => Json): void {
  let description: Json | undefined;
  const rendered = new Map<string, Rendered>();

  function render(version: Version, form: Form): Rendered {
    const key = `${version} ${form}`;
    const known = rendered.get(key);
    if (known) return known;
    description ??= describe();
    const bytes = Buffer.from(forms[form].write(versions[version](description)));
    // Weak: packed and plain forms of it have the same tag.
    const tag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const made = { bytes, tag, packed: {} };
    rendered.set(key, made);
    return made;
  }

  app.get<{ Querystring: { format?: string; version?: string } }>(path, async (request, reply) => {
    const { format = "yaml", version = "3.0" } = request.query;
    if (!isKeyOf(forms, format)) throw validationError({ format: ["Use json or yaml."] });
    if (!isKeyOf(versions, version)) throw validationError({ version: ["Use 3.0 or 3.1."] });
    const { bytes, tag, packed } = render(version, format);
    // The same bytes for everybody, to be kept and asked about again.
    reply.headers({ ETag: tag, Vary: "Accept-Encoding", "Cache-Control": "public, no-cache" });
    if (matchesTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
    reply.type(forms[format].type);
    const encoding = acceptedEncoding(headerText(request.headers["accept-encoding"]), encodings);
    if (encoding === undefined) return reply.send(bytes);
    packed[encoding] ??= compressors[encoding](bytes);
    return reply.header("Content-Encoding", encoding).send(await packed[encoding]);
  });
}

const headerText = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(", ") : header;
const isKeyOf = <T extends object>(object: T, key: unknown): key is keyof T =>
  typeof key === "string" && Object.hasOwn(object, key);
