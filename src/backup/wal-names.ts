function positionOf(lsn: string): bigint {
  const [high = "0", low = "0"] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

function nameOf(timeline: string, segment: bigint, segmentBytes: number): string {
  const perHigh = (1n << 32n) / BigInt(segmentBytes);
  const hex = (value: bigint): string => value.toString(16).toUpperCase().padStart(8, "0");
  return `${timeline}${hex(segment / perHigh)}${hex(segment % perHigh)}`;
}

/** The files with the WAL from one position up to another, which is its end and may be the first byte after a file. */
export function walFileNames(timeline: string, startLsn: string, stopLsn: string, segmentBytes: number): string[] {
  const first = positionOf(startLsn) / BigInt(segmentBytes);
  const last = (positionOf(stopLsn) - 1n) / BigInt(segmentBytes);
  const names: string[] = [];
  for (let segment = first; segment <= last; segment++) names.push(nameOf(timeline, segment, segmentBytes));
  return names;
}

/** The file with the last byte before a position. */
export const walFileBefore = (timeline: string, lsn: string, segmentBytes: number): string =>
  nameOf(timeline, (positionOf(lsn) - 1n) / BigInt(segmentBytes), segmentBytes);

export function nextWalFile(name: string, segmentBytes: number): string {
  const perHigh = (1n << 32n) / BigInt(segmentBytes);
  const segment = BigInt(`0x${name.slice(8, 16)}`) * perHigh + BigInt(`0x${name.slice(16)}`);
  return nameOf(name.slice(0, 8), segment + 1n, segmentBytes);
}
