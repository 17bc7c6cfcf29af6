const LENGTH_MAX = 64;

/** The candidate that `word` most likely stands for, or undefined when none is close enough. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > LENGTH_MAX) return undefined;
  const plain = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const distance = editDistance(plain, candidate);
    if (distance <= Math.ceil(candidate.length / 4) && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment: insert, delete, replace, or swap two neighbours, each at the cost of one. */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = cell(previous, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      let cost = Math.min(replaced, cell(previous, column) + 1, cell(current, column - 1) + 1);
      if (from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, cell(beforePrevious, column - 2) + 1);
      }
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return cell(previous, to.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
