function positionOf(lsn: string): bigint {
  const [high = "0", low = "0"] = lsn.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** The files with the WAL from one position up to another, which is its end and may be the first byte after a file. */
export function walFileNames(timeline: string, startLsn: string, stopLsn: string, segmentBytes: number): string[] {
  const size = BigInt(segmentBytes);
  const perHigh = (1n << 32n) / size;
  const first = positionOf(startLsn) / size;
  const last = (positionOf(stopLsn) - 1n) / size;
  const hex = (value: bigint): string => value.toString(16).toUpperCase().padStart(8, "0");
  const names: string[] = [];
  for (let segment = first; segment <= last; segment++) {
    names.push(`${timeline}${hex(segment / perHigh)}${hex(segment % perHigh)}`);
  }
  return names;
}
