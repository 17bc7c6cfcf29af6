/**
 * A period of coverage. A timeline is in chronological order and its spans do not overlap. Time without a span is
 * unknown or was not watched. Times are Unix milliseconds; Infinity means open.
 */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly state: SpanState;
  /** Why there is a gap. */
  readonly reason: string | null;
  readonly repair: Repair | null;
}

export type SpanState = 'live' | 'repaired' | 'gap' | 'starting' | 'not_watched';
export type Timeline = readonly Span[];

/** Firehose replays when a stream resumes; X offers recovery jobs and search. */
export type RepairVia = 'replay' | 'recovery' | 'search';

/** The repair of a gap. */
export interface Repair {
  readonly state: 'waiting' | 'repaired' | 'impossible';
  readonly via: RepairVia | null;
  /** Why it waits, or why it is impossible. */
  readonly because: string | null;
  /** What the repair misses, or finds in addition. */
  readonly fidelity: readonly string[];
  readonly matches: number | null;
}

/** A rule with several slots needs one that receives. */
const bestFirst: readonly SpanState[] = ['live', 'repaired', 'gap', 'starting', 'not_watched'];
/** A platform needs all its sources, so the worst state counts. */
const worstFirst: readonly SpanState[] = ['gap', 'repaired', 'starting', 'live', 'not_watched'];

export function bestOf(timelines: readonly Timeline[]): Timeline {
  return combine(timelines, bestFirst);
}

export function worstOf(timelines: readonly Timeline[]): Timeline {
  return combine(timelines, worstFirst);
}

/** Combines timelines: at each moment, the covering span whose state is first in `order`. */
function combine(timelines: readonly Timeline[], order: readonly SpanState[]): Timeline {
  const spans = timelines.flat();
  const starts = spans.toSorted((a, b) => a.from - b.from);
  const borders = [...new Set(spans.flatMap(({ from, to }) => [from, to]))].toSorted((a, b) => a - b);
  const combined: Span[] = [];
  let next = 0;
  let open: Span[] = [];
  borders.forEach((from, index) => {
    const to = borders[index + 1];
    if (to === undefined) return;
    open = open.filter((span) => span.to > from);
    for (let span = starts[next]; span && span.from <= from; span = starts[++next]) {
      if (span.to > from) open.push(span);
    }
    const first = open.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0];
    if (first) append(combined, { ...first, from, to });
  });
  return combined;
}

function append(timeline: Span[], span: Span): void {
  const last = timeline.at(-1);
  const isContinued =
    last?.to === span.from &&
    last.state === span.state &&
    last.reason === span.reason &&
    last.repair === span.repair;
  if (isContinued) timeline[timeline.length - 1] = { ...last, to: span.to };
  else timeline.push(span);
}

/**
 * Shows planned, fully replayed ends as live. Firehose ends each stream after 5 minutes, so hundreds of spans a day
 * would hide real gaps.
 */
export function withoutPlannedEnds(timeline: Timeline): Timeline {
  const folded: Span[] = [];
  for (const span of timeline) {
    const { reason, repair } = span;
    const isPlanned = reason === 'finished' && repair?.state === 'repaired' && repair.via === 'replay';
    append(folded, isPlanned ? { ...span, state: 'live', reason: null, repair: null } : span);
  }
  return folded;
}

export function clip(timeline: Timeline, from: number, to: number): Timeline {
  return timeline.flatMap((span) => {
    const clipped = { ...span, from: Math.max(from, span.from), to: Math.min(to, span.to) };
    return clipped.from < clipped.to ? [clipped] : [];
  });
}

/** Fills the uncovered time between `from` and `to` with `not_watched`. */
export function filled(timeline: Timeline, from: number, to: number): Timeline {
  if (from >= to) return timeline;
  return bestOf([timeline, [{ from, to, state: 'not_watched', reason: null, repair: null }]]);
}
