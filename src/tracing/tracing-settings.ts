/** The variables of OpenTelemetry that are read; the others of its specification are not. */
export interface TracingSettings {
  /** Of the collector, with the path `/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** Of the traces that begin here, the share that is recorded. */
  ratio: number;
}

/** `key=value,key=value` with percent-encoded values. Undefined: it has another form. */
export function parseHeaderList(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const part of text.split(",")) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([^\s\r\n]*)\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined) return undefined;
    try {
      headers[name.toLowerCase()] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return headers;
}
