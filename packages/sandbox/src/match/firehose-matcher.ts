import { type FirehoseDocument, KEYWORD_FIELDS, TEXT_FIELDS } from './firehose-document.ts';
import { type FirehoseNode, parseFirehoseRule } from './firehose-syntax.ts';
import type { Compile, Matcher } from './matcher.ts';
import { isUnspaced, tokenize, toSearchLine } from './tokens.ts';

type FirehoseMatcher = Matcher<FirehoseDocument>;
type Leaf = Exclude<FirehoseNode, { kind: 'level' }>;

const HOUR_MS = 3_600_000;
const RECENT_UNIT_MS: { [unit: string]: number } = { h: HOUR_MS, d: 24 * HOUR_MS, mo: 30 * 24 * HOUR_MS };
const RECENT = /^([1-9][0-9]*)(h|d|mo)$/;

export const compileFirehoseRule: Compile<FirehoseDocument> = (value) => {
  if (value.trim() === '') return { ok: false, details: ['The query is empty'] };
  const parsed = parseFirehoseRule(value);
  if (!parsed.ok) return parsed;
  const details = findFaults(parsed.root);
  return details.length > 0 ? { ok: false, details } : { ok: true, matcher: compileNode(parsed.root) };
};

function findFaults(node: FirehoseNode): string[] {
  if (node.kind !== 'level') return findLeafFault(node);
  const onlyProhibited = node.clauses.every(({ occur }) => occur === 'prohibited');
  const own = onlyProhibited ? ['A query or group with only NOT clauses matches nothing'] : [];
  return [...own, ...node.clauses.flatMap((clause) => findFaults(clause.node))];
}

function findLeafFault(leaf: Leaf): string[] {
  const { field } = leaf;
  if (field === 'recent') {
    return leaf.kind === 'term' && RECENT.test(leaf.text)
      ? []
      : ['recent: takes a span such as 24h, 7d or 1mo'];
  }
  if (field === 'dr') return leaf.kind === 'range' ? [] : ['dr: takes a range such as [60 TO 100]'];
  if (!TEXT_FIELDS.includes(field) && !KEYWORD_FIELDS.includes(field)) return [`Unknown field "${field}"`];
  if (leaf.kind !== 'range' && leaf.text.trim() === '') return ['A phrase must not be empty'];
  return [];
}

function compileNode(node: FirehoseNode): FirehoseMatcher {
  if (node.kind === 'level') return compileLevel(node.clauses);
  if (node.field === 'recent') return compileRecent(node);
  if (node.kind === 'range') return { test: (document) => isInRange(document, node), anyOfKeys: undefined };
  return TEXT_FIELDS.includes(node.field) ? compileText(node) : compileKeyword(node);
}

function compileLevel(clauses: Extract<FirehoseNode, { kind: 'level' }>['clauses']): FirehoseMatcher {
  const of = (wanted: string) =>
    clauses.filter(({ occur }) => occur === wanted).map(({ node }) => compileNode(node));
  const required = of('required');
  const optional = of('optional');
  const prohibited = of('prohibited');
  const test: FirehoseMatcher['test'] = (document) =>
    required.every((matcher) => matcher.test(document)) &&
    (required.length > 0 || optional.some((matcher) => matcher.test(document))) &&
    !prohibited.some((matcher) => matcher.test(document));
  const optionalKeys = optional.map((matcher) => matcher.anyOfKeys);
  const anyOfKeys =
    required.length > 0
      ? required.find((matcher) => matcher.anyOfKeys !== undefined)?.anyOfKeys
      : optionalKeys.every((keys) => keys !== undefined)
        ? optionalKeys.flat()
        : undefined;
  return { test, anyOfKeys };
}

/** An unquoted term of several tokens means any of them; a phrase means all in a row (firehose.md §12.5). */
function compileText(leaf: Extract<Leaf, { text: string }>): FirehoseMatcher {
  const { field } = leaf;
  if (leaf.kind === 'term' && /[*?]/.test(leaf.text)) {
    const pattern = wildcardToRegExp(leaf.text.toLowerCase());
    const test: FirehoseMatcher['test'] = (document) =>
      (document.text[field] ?? '').split(' ').some((token) => token !== '' && pattern.test(token));
    return { test, anyOfKeys: undefined };
  }
  const tokens = tokenize(leaf.text);
  const lines = leaf.kind === 'phrase' ? [tokens] : tokens.map((token) => [token]);
  const needles = lines.map((line) => (line.some(isUnspaced) ? line.join(' ') : toSearchLine(line)));
  const firsts = lines.flatMap(([first]) => (first === undefined ? [] : [`${field}:${first}`]));
  return {
    test: (document) => needles.some((needle) => document.text[field]?.includes(needle) ?? false),
    anyOfKeys: tokens.some(isUnspaced) ? undefined : firsts,
  };
}

function compileKeyword(leaf: Extract<Leaf, { text: string }>): FirehoseMatcher {
  const { field, kind, text } = leaf;
  if (kind === 'term' && /(?<!\\)[*?]/.test(text)) {
    const pattern = wildcardToRegExp(text);
    const test: FirehoseMatcher['test'] = (document) =>
      (document.keywords[field] ?? []).some((value) => pattern.test(value));
    return { test, anyOfKeys: undefined };
  }
  const wanted = text.replaceAll(/\\(.)/g, '$1');
  return {
    test: (document) => document.keywords[field]?.includes(wanted) ?? false,
    anyOfKeys: [`${field}:${wanted}`],
  };
}

function compileRecent(leaf: Leaf): FirehoseMatcher {
  const [, count = '0', unit = 'h'] = RECENT.exec(leaf.kind === 'range' ? '' : leaf.text) ?? [];
  const spanMs = Number(count) * (RECENT_UNIT_MS[unit] ?? 0);
  const test: FirehoseMatcher['test'] = ({ publishedAtMs, matchedAtMs }) =>
    publishedAtMs !== undefined && publishedAtMs >= matchedAtMs - spanMs;
  return { test, anyOfKeys: undefined };
}

/** `dr` compares as a number, keyword fields in string order (firehose.md §12.7). */
function isInRange(document: FirehoseDocument, range: Extract<Leaf, { kind: 'range' }>): boolean {
  const { field, from, to, fromIncluded, toIncluded } = range;
  const isNumber = field === 'dr';
  const values: ReadonlyArray<number | string | undefined> = isNumber
    ? [document.domainRating]
    : (document.keywords[field] ?? []);
  return values.some((value) => {
    if (value === undefined) return false;
    const above = from === '*' || compare(value, isNumber ? Number(from) : from, fromIncluded);
    return above && (to === '*' || compare(isNumber ? Number(to) : to, value, toIncluded));
  });
}

function compare(high: number | string, low: number | string, orEqual: boolean): boolean {
  return high > low || (orEqual && high === low);
}

function wildcardToRegExp(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\(.)|([*?])|([^*?\\])/g, (_all, escaped, wildcard, plain) => {
    if (wildcard === '*') return '.*';
    if (wildcard === '?') return '.';
    return escapeRegExp(escaped ?? plain ?? '');
  });
  return new RegExp(`^${source}$`, 'su');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
