/**
 * The edit distance in code points (insert, delete, replace, swap of two neighbours). Stops above `limit` and returns
 * `limit + 1`, so that long words are cheap.
 */
export function editDistance(left: string, right: string, limit: number): number {
  const a = Array.from(left);
  const b = Array.from(right);
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  // Rows of the table, as maps: only columns within `limit` of the diagonal can stay within the limit.
  let beforeLast = new Map<number, number>();
  let last = new Map<number, number>();
  for (let column = 0; column <= Math.min(b.length, limit); column += 1) last.set(column, column);
  let lastBest = 0;
  for (let row = 1; row <= a.length; row += 1) {
    const current = new Map<number, number>();
    if (row <= limit) current.set(0, row);
    let best = row <= limit ? row : limit + 1;
    for (let column = Math.max(1, row - limit); column <= Math.min(b.length, row + limit); column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last.get(column) ?? limit + 1) + 1,
        (current.get(column - 1) ?? limit + 1) + 1,
        (last.get(column - 1) ?? limit + 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast.get(column - 2) ?? limit + 1) + 1);
      current.set(column, cost);
      best = Math.min(best, cost);
    }
    // A swap reads the row before the last, so it stops only after two rows above the limit.
    if (best > limit && lastBest > limit) return limit + 1;
    lastBest = best;
    beforeLast = last;
    last = current;
  }
  return Math.min(last.get(b.length) ?? limit + 1, limit + 1);
}

/**
 * The nearest candidate, for a "did you mean"; null when none is near. Short words allow one edit, longer ones two or
 * three; more would suggest unrelated words.
 */
export function closest(word: string, candidates: Iterable<string>): string | null {
  const typed = word.toLowerCase();
  const limit = typed.length <= 3 ? 1 : typed.length <= 7 ? 2 : 3;
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(typed, candidate.toLowerCase(), bestDistance - 1);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** User text in a message: quoted as JSON and cut, so that the message stays one short line. */
export function quoted(text: string, maxLength = 60): string {
  return JSON.stringify(text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text);
}
