import type { AccessPoint, CellTower, Fix } from "../tracker-message.ts";
import { readWholeNumber } from "../wire/numbers.ts";
import { accessPointOf, macPattern, readCell, readNetwork } from "./location.ts";
import type { Report } from "./report.ts";

/** Reports of nothing but the networks around: GTGSM and GTLBS list cells, GTWIF access points. */
export function readNeighbours(report: Report): Fix[] {
  const cells = report.word === "GSM" ? readCells(report, 4) : report.word === "LBS" ? readCells(report, 12) : [];
  const accessPoints = readAccessPoints(report);
  if (cells.length === 0 && accessPoints.length === 0) return [];
  const [home] = cells;
  return [
    {
      kind: "fix",
      deviceTimeMs: report.sentAtMs,
      gps: null,
      cells,
      accessPoints,
      network: home ? { mcc: home.mcc, mnc: home.mnc } : null,
      isBuffered: report.kind === "BUFF",
    },
  ];
}

/** `mcc,mnc,lac,cell,level,` seven times; the one in use comes last and is put first. */
function readCells({ fields }: Report, from: number): CellTower[] {
  const cells: CellTower[] = [];
  for (let at = from; at + 4 < fields.length - 2; at += 6) {
    const network = readNetwork(fields, at);
    const cell = network && readCell(fields, at, network, levelDbm(fields[at + 4]));
    if (cell) cells.unshift(cell);
  }
  return cells;
}

/** Level 0 is -110 dBm or less, 63 is -47 dBm. */
function levelDbm(field: string | undefined): number | null {
  const level = readWholeNumber(field);
  return level === null || level < 0 || level > 63 ? null : level - 110;
}

function readAccessPoints({ word, fields }: Report): AccessPoint[] {
  if (word !== "WIF") return [];
  return fields.flatMap((field, at) =>
    at > 4 && macPattern.test(field) && /^-\d{1,3}$/.test(fields[at + 1] ?? "")
      ? [accessPointOf(field, fields[at + 1])]
      : [],
  );
}
