import type { LeafNode, Node, Test } from '../ast.ts';
import { spend } from '../budget.ts';
import type { ExamplePayload, ReadItem } from '../example-payload.ts';
import { evaluateRule, explainRule, type LeafVerdictOf } from '../explain.ts';
import type { Evidence, Explanation, LeafVerdict, State, Verdict } from '../language.ts';
import { once } from '../once.ts';
import { acceptsOf } from './accept.ts';
import {
  deliveredDocument,
  exampleDocument,
  type FirehoseDocument,
  type TextField,
  type Value,
  wholePage,
} from './document.ts';
import { judgeRecent } from './evaluate-recent.ts';
import { judgeText } from './evaluate-text.ts';
import { fields } from './tables.ts';

export function evaluate(root: Node, payload: unknown): Verdict {
  const { state, confidence } = evaluateRule(root, reader(payload));
  return { state, confidence };
}

export function explain(root: Node, payload: unknown): Explanation {
  return explainRule(root, reader(payload));
}

function reader(payload: unknown): () => LeafVerdictOf {
  return () => {
    const document = deliveredDocument(payload);
    return (leaf) => judge(leaf, document);
  };
}

/** A page described by an example. Clauses about omitted fields are undecided. */
export function readExamplePage(page: ExamplePayload): ReadItem {
  const raw = page.raw ?? null;
  const read = once((): LeafVerdictOf => {
    const document = raw === null ? exampleDocument(page) : deliveredDocument(raw);
    return (leaf) =>
      raw !== null || hasFieldOf(leaf, page) ? judge(leaf, document) : unknown('the example lacks the field');
  });
  return {
    evaluate: (node) => evaluateRule(node, read),
    explain: (node) => explainRule(node, read),
  };
}

function hasFieldOf({ field }: LeafNode, page: ExamplePayload): boolean {
  const source = exampleSources.get(field);
  return source === undefined ? !fields.has(field) : (page[source] ?? null) !== null;
}

/** Which field of an example decides each field of the language. */
const exampleSources: ReadonlyMap<string, 'text' | 'title' | 'url' | 'language' | 'published_at'> = new Map([
  ['added', 'text'],
  ['title', 'title'],
  ['url', 'url'],
  ['domain', 'url'],
  ['language', 'language'],
  ['publish_time', 'published_at'],
  ['recent', 'published_at'],
]);

/** Matches rules against a whole page record, as the platform does at crawl time; reads the page once. */
export function createPageMatcher(page: unknown): (root: Node) => boolean {
  const read = once((): LeafVerdictOf => {
    const document = wholePage(page);
    return (leaf) => judge(leaf, document);
  });
  return (root) => evaluateRule(root, read).state === 'match';
}

/** firehose.md §13.1: which fields a delivered match decides. */
function judge(leaf: LeafNode, document: FirehoseDocument): LeafVerdict {
  const row = fields.get(leaf.field);
  if (row === undefined)
    return leaf.field === '*' ? judgeEverything(leaf) : miss([], 'this field does not exist');
  if (row.type === 'text') return judgeTextField(leaf, document.texts.get(leaf.field));
  if (row.type === 'number') return judgeRating(leaf, document);
  if (row.type === 'filter') return judgeRecent(leaf, document);
  if (leaf.field === 'domain') return judgeDomain(leaf, document);
  return judgeValues(leaf, document.values.get(leaf.field) ?? [], document.whole);
}

function judgeEverything(leaf: LeafNode): LeafVerdict {
  const all = leaf.test.type === 'wildcard' && leaf.test.pattern === '*';
  return all ? { state: 'match', confidence: 'exact', evidence: [] } : miss([], 'this field does not exist');
}

function judgeTextField(leaf: LeafNode, field: TextField | undefined): LeafVerdict {
  if (field === undefined) return unknown('link texts are not part of a delivered match');
  return judgeText(leaf, field);
}

function judgeValues(leaf: LeafNode, values: readonly Value[], whole: boolean): LeafVerdict {
  const { state, evidence } = firstAccepted(leaf, values);
  if (state === 'unknown') return unknown('the pattern is too complex to be decided here');
  if (state === 'match') return { state, confidence: 'exact', evidence };
  const below = whole ? undefined : labelBelow(leaf.test, values);
  if (below !== undefined)
    return {
      ...unknown('whether a label counts for those above it is not documented'),
      evidence: [evidenceOf(leaf, below)],
    };
  const why = values.length === 0 ? 'the match does not carry this field' : undefined;
  const shown = values.slice(0, 1).map((value) => evidenceOf(leaf, value));
  return miss(shown, why);
}

/** Whether a page with `/News/Politics` has `/News` is not documented; the platform's own examples suggest it. */
function labelBelow(test: Test, values: readonly Value[]): Value | undefined {
  if (test.type !== 'term' || !test.value.startsWith('/')) return undefined;
  return values.find(({ value }) => value.startsWith(`${test.value}/`));
}

function judgeDomain(leaf: LeafNode, { domain, whole }: FirehoseDocument): LeafVerdict {
  const sure = firstAccepted(leaf, ofUrl(domain.sure));
  if (sure.state === 'match') {
    const isHost = sure.evidence[0]?.value === domain.sure[0];
    return { state: 'match', confidence: isHost || whole ? 'exact' : 'approximate', evidence: sure.evidence };
  }
  const possible = firstAccepted(leaf, ofUrl(domain.possible));
  if (possible.state === 'match' && whole)
    return { state: 'match', confidence: 'exact', evidence: possible.evidence };
  if (possible.state !== 'no_match' || sure.state === 'unknown') {
    return unknown('whether parent domains count is not documented');
  }
  return {
    ...miss(ofUrl(domain.sure.slice(0, 1)).map((value) => evidenceOf(leaf, value))),
    confidence: 'exact',
  };
}

function ofUrl(values: readonly string[]): Value[] {
  return values.map((value) => ({ path: 'document.url', value }));
}

function judgeRating(leaf: LeafNode, { rating, whole }: FirehoseDocument): LeafVerdict {
  if (rating === null) {
    return whole ? miss([], 'the page has no domain rating') : unknown('the match carries no domain rating');
  }
  const { test } = leaf;
  if (test.type !== 'range') return miss([], 'a domain rating is only compared with a range');
  const low = test.low === null ? -Infinity : Number(test.low);
  const high = test.high === null ? Infinity : Number(test.high);
  const above = rating > low || (rating === low && test.includeLow);
  const below = rating < high || (rating === high && test.includeHigh);
  const evidence = [evidenceOf(leaf, { path: 'document.domain_rating', value: String(rating) })];
  return above && below ? { state: 'match', confidence: 'exact', evidence } : miss(evidence);
}

function firstAccepted(leaf: LeafNode, values: readonly Value[]): { state: State; evidence: Evidence[] } {
  const accepts = acceptsOf(leaf.test);
  let undecided = false;
  for (const value of values) {
    spend(2);
    const accepted = accepts(value.value);
    if (accepted === true) return { state: 'match', evidence: [evidenceOf(leaf, value)] };
    undecided ||= accepted === null;
  }
  return { state: undecided ? 'unknown' : 'no_match', evidence: [] };
}

function evidenceOf(leaf: LeafNode, { path, value }: Value): Evidence {
  return { rule: leaf.span, field: leaf.field, path, range: null, value: value.slice(0, 200) };
}

function miss(evidence: readonly Evidence[], why?: string): LeafVerdict {
  return { state: 'no_match', confidence: 'exact', evidence, ...(why === undefined ? {} : { why }) };
}

function unknown(why: string): LeafVerdict {
  return { state: 'unknown', confidence: 'approximate', evidence: [], why };
}
