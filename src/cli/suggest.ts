/** The number of letters to insert, delete, replace or swap to get from one word to the other. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const candidates = [cell(row, j - 1) + 1, cell(last, j) + 1, cell(last, j - 1) + (isSame ? 0 : 1)];
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        candidates.push(cell(beforeLast, j - 2) + 1);
      }
      row.push(Math.min(...candidates));
    }
    beforeLast = last;
    last = row;
  }
  return cell(last, to.length);
}

const cell = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

/** ` (did you mean X?)` for the nearest known word, or nothing when none is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const ranked = known
    .map((candidate) => ({ candidate, away: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.away - b.away);
  const nearest = ranked[0];
  if (!nearest || nearest.away > Math.max(1, Math.floor(nearest.candidate.length / 3))) return "";
  return ` (did you mean ${nearest.candidate}?)`;
}
