import { widthOf } from '@earshot/query';
import type { Match } from '@earshot/sdk';
import { cutWidth, spaced } from './printable.ts';

/** The fields of a match that are shown. Matches of a preview have no others. */
export type ShownMatch = Pick<Match, 'created_at' | 'platform' | 'platform_post_id' | 'payload' | 'why'>;

/** A piece of a line. `isHit` marks the words that matched. */
export interface Segment {
  readonly text: string;
  readonly isHit: boolean;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Columns of text before the first hit, if the beginning of a long line is cut. */
const columnsBeforeHit = 24;

/** The title or the text of a match, whichever has the words that matched. */
export function highlightedText({ payload, platform_post_id, why }: ShownMatch): Segment[] {
  const { title, text } = payload;
  const inTitle = spansIn(
    title,
    why.evidence.filter(({ path }) => isTitle(path)),
  );
  const inText = spansIn(
    text,
    why.evidence.filter(({ path }) => !isTitle(path)),
  );
  if (title === null) return segmentsOf(text ?? platform_post_id, inText);
  if (inTitle.length > 0 || inText.length === 0 || text === null) return segmentsOf(title, inTitle);
  return [...segmentsOf(`${title} · `, []), ...segmentsOf(text, inText)];
}

/** The reasons that the text does not show, such as author or language, and the undecided clauses. */
export function hiddenReasons({ why }: ShownMatch): string {
  const reasons = why.evidence.map(({ field, text }) => `${field} ${text}`.trim());
  const undecided = why.undecided.map(({ field }) => `${field}?`);
  return spaced([...new Set([...reasons, ...undecided])].join(', '));
}

function isTitle(path: string): boolean {
  return /(^|\.)title$/.test(path);
}

/**
 * The spans of the evidence in this text. The spans of the API refer to the raw item, and a page's text is assembled from
 * several parts of it. If a span has other words here, the words are searched.
 */
function spansIn(text: string | null, evidence: Match['why']['evidence']): Span[] {
  if (text === null) return [];
  const spans = evidence.flatMap((one): Span[] => {
    if (one.text_span === null || one.text === '') return [];
    if (text.slice(one.text_span.start, one.text_span.end) === one.text) return [one.text_span];
    const start = text.indexOf(one.text);
    return start === -1 ? [] : [{ start, end: start + one.text.length }];
  });
  return merged(spans);
}

function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && start <= last.end) {
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, end) };
    } else result.push({ start, end });
  }
  return result;
}

function segmentsOf(text: string, spans: readonly Span[]): Segment[] {
  const segments: Segment[] = [];
  let position = 0;
  for (const { start, end } of spans) {
    segments.push({ text: text.slice(position, start), isHit: false });
    segments.push({ text: text.slice(start, end), isHit: true });
    position = end;
  }
  segments.push({ text: text.slice(position), isHit: false });
  return segments.map((one) => ({ ...one, text: spaced(one.text) })).filter((one) => one.text !== '');
}

/** Cuts the line to these columns, keeps the first hit visible, and marks cuts with an ellipsis. */
export function fitSegments(segments: readonly Segment[], columns: number): Segment[] {
  const shown = trimmed(segments);
  if (widthOf(joined(shown)) <= columns) return shown;
  const firstHit = shown.findIndex(({ isHit }) => isHit);
  const before = joined(shown.slice(0, Math.max(0, firstHit)));
  const hitWidth = widthOf(shown[firstHit]?.text ?? '');
  if (firstHit <= 0 || widthOf(before) + hitWidth < columns) return cutEnd(shown, columns);
  const room = Math.max(0, Math.min(columnsBeforeHit, columns - hitWidth - 2));
  const kept = cutBegin(before, room);
  return cutEnd([{ text: `…${kept}`, isHit: false }, ...shown.slice(firstHit)], columns);
}

function cutEnd(segments: readonly Segment[], columns: number): Segment[] {
  if (widthOf(joined(segments)) <= columns) return [...segments];
  const kept: Segment[] = [];
  let left = columns - 1;
  for (const segment of segments) {
    const text = cutWidth(segment.text, left);
    if (text !== '') kept.push({ ...segment, text });
    left -= widthOf(text);
    if (text !== segment.text) break;
  }
  return [...kept, { text: '…', isHit: false }];
}

/** The longest end of the text that fits into these columns. */
function cutBegin(text: string, columns: number): string {
  const characters = Array.from(text);
  let used = 0;
  let from = characters.length;
  while (from > 0) {
    used += widthOf(characters[from - 1] ?? '');
    if (used > columns) break;
    from -= 1;
  }
  return characters.slice(from).join('');
}

function trimmed(segments: readonly Segment[]): Segment[] {
  return segments
    .map(({ text, isHit }, index) => {
      const begun = index === 0 ? text.trimStart() : text;
      return { text: index === segments.length - 1 ? begun.trimEnd() : begun, isHit };
    })
    .filter(({ text }) => text !== '');
}

function joined(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join('');
}
