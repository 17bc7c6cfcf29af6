/**
 * The edit distance in code points (insert, delete, replace, swap of two neighbours). Stops above `limit` and returns
 * `limit + 1`, so that long words are cheap.
 */
export function editDistance(left: string, right: string, limit: number): number {
  const a = Array.from(left);
  const b = Array.from(right);
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
      best = Math.min(best, cost);
    }
    // A swap reads the row before the last, so it stops only after two rows above the limit.
    if (best > limit && Math.min(...last) > limit) return limit + 1;
    beforeLast = last;
    last = current;
  }
  return Math.min(last[b.length] ?? 0, limit + 1);
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
