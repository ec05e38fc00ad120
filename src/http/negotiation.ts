export const acceptsGzip = (acceptEncoding: string | undefined): boolean =>
  weighted(acceptEncoding).some(({ value, quality }) => ["gzip", "x-gzip"].includes(value) && quality > 0);

/** The first of ours that the caller takes; undefined: none, and the answer goes out as it is. */
export function acceptedEncoding<const T extends string>(
  acceptEncoding: string | undefined,
  encodings: readonly T[],
): T | undefined {
  const taken = weighted(acceptEncoding);
  return encodings.find((encoding) => taken.some(({ value, quality }) => value === encoding && quality > 0));
}

/** Weak comparison (RFC 9110, 13.1.2). */
export const matchesTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  (ifNoneMatch ?? "")
    .split(",")
    .map((one) => one.trim())
    .some((one) => one === "*" || one.replace(/^W\//, "") === tag.replace(/^W\//, ""));

/** The values of a header with their weights, parameters left aside. */
export function weighted(header: string | undefined): { value: string; quality: number }[] {
  return (header ?? "").split(",").map((part) => {
    const [value = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    return { value, quality: Number.isFinite(quality) ? quality : 0 };
  });
}
