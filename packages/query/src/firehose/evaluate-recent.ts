import type { LeafNode } from '../ast.ts';
import type { Evidence, LeafVerdict, State } from '../language.ts';
import type { FirehoseDocument } from './document.ts';

const hourMs = 3_600_000;
/** `publish_time` is a local time without a zone; this is the largest offset from UTC. */
const zoneHours = 14;
/** A month is 30 days, more or less. */
const monthSlack = 0.03;

interface Window {
  readonly hours: number;
  readonly slackHours: number;
}

/** Parses `24h`, `7d`, `2mo`; null when the value is not a window. */
export function parseWindow(text: string): Window | null {
  const found = /^([1-9][0-9]{0,5})(h|d|mo)$/.exec(text);
  if (found === null) return null;
  const count = Number(found[1]);
  if (found[2] === 'h') return { hours: count, slackHours: 0 };
  if (found[2] === 'd') return { hours: count * 24, slackHours: 0 };
  return { hours: count * 720, slackHours: count * 720 * monthSlack };
}

/** The age of the page when it matched, against the window of `recent:` (firehose.md §12.8). */
export function judgeRecent(leaf: LeafNode, document: FirehoseDocument): LeafVerdict {
  const window = leaf.test.type === 'opaque' ? parseWindow(leaf.test.value) : null;
  const published = document.values.get('publish_time')?.[0];
  if (window === null)
    return { state: 'no_match', confidence: 'exact', evidence: [], why: 'this is not a window' };
  if (published === undefined) {
    return {
      state: 'no_match',
      confidence: 'approximate',
      evidence: [],
      why: 'the page has no publication time',
    };
  }
  const evidence: Evidence[] = [
    { rule: leaf.span, field: leaf.field, path: published.path, range: null, value: published.value },
  ];
  const state = judgeAge(published.value, window, document);
  if (state !== 'unknown') return { state, confidence: 'exact', evidence };
  const why = 'near the edge of the window; the time zone of the publication time is not known';
  return { state, confidence: 'approximate', evidence: [], why };
}

function judgeAge(published: string, window: Window, { matchedAt, whole }: FirehoseDocument): State {
  const hasZone = /(?:Z|[+-][0-9]{2}:?[0-9]{2})$/i.test(published.slice(10));
  const publishedMs = Date.parse(hasZone || published.length <= 10 ? published : `${published}Z`);
  const matchedMs = matchedAt === null ? Number.NaN : Date.parse(matchedAt);
  const ageHours = (matchedMs - publishedMs) / hourMs;
  if (Number.isNaN(ageHours)) return whole ? 'no_match' : 'unknown';
  const tolerance = whole ? 0 : window.slackHours + (hasZone ? 0 : zoneHours);
  if (ageHours + tolerance <= window.hours) return 'match';
  return ageHours - tolerance > window.hours ? 'no_match' : 'unknown';
}
