import type { Match } from '@earshot/sdk';

/** A span of the text that matches a clause of the rule. `evidence` is the index in `why.evidence`. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly evidence: number;
}

export interface Marks {
  readonly title: readonly Mark[];
  readonly text: readonly Mark[];
}

export interface Piece {
  readonly text: string;
  readonly evidence: number | null;
}

/** Finds the evidence in the shown title and text. Evidence in other fields has no mark. */
export function findMarks({ payload, why }: Pick<Match, 'payload' | 'why'>): Marks {
  const within = (shown: string | null) =>
    why.evidence.flatMap(({ path, text_span, text }, evidence): Mark[] => {
      const value = valueAt(payload.raw, path);
      if (shown === null || typeof value !== 'string' || text_span === null) return [];
      // The text of a web page is joined from several parts, so the part is searched in it.
      const offset = shown.indexOf(value);
      const start = offset + text_span.start;
      if (offset === -1 || shown.slice(start, start + text.length) !== text) return [];
      return [{ start, end: offset + text_span.end, evidence }];
    });
  return { title: within(payload.title), text: within(payload.text) };
}

/** The value at a path such as `document.diff.chunks[0].text`. */
function valueAt(value: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((inner, step) => (isRecord(inner) ? inner[step] : undefined), value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Splits the text at its marks. Of overlapping marks, only the first one is used. */
export function cutAtMarks(text: string, marks: readonly Mark[]): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  for (const { start, end, evidence } of marks.toSorted((a, b) => a.start - b.start)) {
    if (start < done || end > text.length || start >= end) continue;
    if (start > done) pieces.push({ text: text.slice(done, start), evidence: null });
    pieces.push({ text: text.slice(start, end), evidence });
    done = end;
  }
  if (done < text.length) pieces.push({ text: text.slice(done), evidence: null });
  return pieces;
}
