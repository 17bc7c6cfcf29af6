import type { LeafNode, Node } from '../ast.ts';
import { escapeTerm, quote } from './escape.ts';
import { defaultField, fields, limits } from './tables.ts';

/**
 * One text for equal rules, as far as cheap and sound rewrites go: flattened, sorted, without duplicates and absorbed
 * parts. It uses only what is safe on the platform (firehose.md §12.10): explicit operators, one kind per level, a
 * positive clause on every level, quoted values, `recent:` last.
 */
export function canonicalText(root: Node): string | null {
  const full = normalise(root, leafText);
  if (full === null) return null;
  return full.text.length <= limits.length ? full.text : (normalise(root, shortLeafText)?.text ?? null);
}

interface Normal {
  readonly text: string;
  readonly kind: 'leaf' | 'all' | 'any';
  /** The positive members of an `all`, or the alternatives of an `any`. */
  readonly parts: readonly Normal[];
  /** The excluded members of an `all`. */
  readonly without: readonly Normal[];
}

const none: readonly Normal[] = [];
const insertionMax = 16;

type Print = (leaf: LeafNode) => string;

/** Null when the node can match nothing. */
function normalise(node: Node, print: Print): Normal | null {
  switch (node.kind) {
    case 'leaf':
      return { text: print(node), kind: 'leaf', parts: none, without: none };
    case 'never':
    case 'not':
      // `all` handles a negation beside a positive clause; alone it matches nothing.
      return null;
    case 'or':
      return any(node.children.map((child) => normalise(child, print)));
    case 'and':
      return all(node.children, print);
  }
}

function any(members: readonly (Normal | null)[]): Normal | null {
  const flat: Normal[] = [];
  for (const member of members) {
    if (member?.kind === 'any') flat.push(...member.parts);
    else if (member !== null) flat.push(member);
  }
  const parts = absorb(distinctSorted(flat), 'all');
  const [only] = parts;
  if (only === undefined || parts.length === 1) return only ?? null;
  return { text: parts.map(nested).join(' OR '), kind: 'any', parts, without: none };
}

/**
 * Absorption: `a OR (a AND b)` and `a AND (a OR b)` are `a`. Levels are flat, so only leaves can occur on both.
 */
function absorb(parts: readonly Normal[], kind: 'all' | 'any'): readonly Normal[] {
  const leaves = parts.filter((part) => part.kind === 'leaf');
  if (leaves.length === 0 || leaves.length === parts.length) return parts;
  const texts = new Set(leaves.map((leaf) => leaf.text));
  return parts.filter((part) => part.kind !== kind || !part.parts.some((inner) => texts.has(inner.text)));
}

function all(children: readonly Node[], print: Print): Normal | null {
  const positive: Normal[] = [];
  const negative: (Normal | null)[] = [];
  for (const child of children) {
    if (child.kind === 'not') {
      negative.push(normalise(child.child, print));
      continue;
    }
    const part = normalise(child, print);
    if (part === null) return null;
    if (part.kind === 'all') {
      positive.push(...part.parts);
      negative.push(...part.without);
    } else positive.push(part);
  }
  const parts = absorb(distinctSorted(positive), 'any');
  const excluded = negative.length === 0 ? null : any(negative);
  const [only] = parts;
  if (only === undefined) return null;
  if (parts.length === 1 && excluded === null) return only;
  const without = excluded === null ? none : excluded.kind === 'any' ? excluded.parts : [excluded];
  return { text: allText(parts, excluded), kind: 'all', parts, without };
}

function allText(parts: readonly Normal[], excluded: Normal | null): string {
  const clauses = parts.map(nested);
  const recent = clauses.findIndex((clause) => clause.startsWith('recent:'));
  const last = recent >= 0 ? clauses.splice(recent, 1) : [];
  if (excluded !== null) clauses.push(`NOT ${nested(excluded)}`);
  return [...clauses, ...last].join(' AND ');
}

function nested(part: Normal): string {
  return part.kind === 'leaf' ? part.text : `(${part.text})`;
}

/** Levels are short, so inserting each part in order is faster than a general sort. */
function distinctSorted(parts: readonly Normal[]): readonly Normal[] {
  if (parts.length < 2) return parts;
  if (parts.length > insertionMax) return distinctSortedMany(parts);
  const sorted: Normal[] = [];
  for (const part of parts) {
    let at = sorted.length;
    while (at > 0 && part.text < (sorted[at - 1]?.text ?? '')) at -= 1;
    if (sorted[at - 1]?.text !== part.text) sorted.splice(at, 0, part);
  }
  return sorted;
}

function distinctSortedMany(parts: readonly Normal[]): readonly Normal[] {
  const byText = new Map(parts.map((part) => [part.text, part]));
  return [...byText.values()].toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

function leafText(leaf: LeafNode): string {
  return `${fields.has(leaf.field) ? leaf.field : escapeTerm(leaf.field)}:${valueText(leaf)}`;
}

/** For rules that are too long in the full form: omits the default field and quotes around plain words. */
function shortLeafText(leaf: LeafNode): string {
  const { test } = leaf;
  const plain =
    test.type === 'term' &&
    test.written === undefined &&
    fields.get(leaf.field)?.type === 'text' &&
    /^[\p{L}\p{N}]+$/u.test(test.value);
  const value = plain ? test.value : valueText(leaf);
  return leaf.field === defaultField ? value : `${leaf.field}:${value}`;
}

function valueText({ test }: LeafNode): string {
  switch (test.type) {
    case 'term':
      return quote(test.written ?? test.value);
    case 'phrase':
      return `${quote(test.written ?? test.words.join(' '))}${test.slop > 0 ? `~${test.slop}` : ''}`;
    case 'prefix':
      return `${escapeTerm(test.value)}*`;
    case 'wildcard':
      return test.pattern.replaceAll(/\\[\s\S]|[\s\S]/g, (part) =>
        /^(?:\\|[*?])/.test(part) ? part : escapeTerm(part),
      );
    case 'regex':
      // Two slashes after a colon would look like the start of a URL.
      return `/${test.source === '' ? '()' : test.source}/`;
    case 'fuzzy':
      return `${escapeTerm(test.value)}~${test.distance}`;
    case 'range': {
      const open = test.includeLow ? '[' : '{';
      return `${open}${boundText(test.low)} TO ${boundText(test.high)}${test.includeHigh ? ']' : '}'}`;
    }
    case 'opaque':
      return escapeTerm(test.value);
    case 'number':
    case 'circle':
    case 'box':
    case 'flag':
      // Only X rules have these.
      return '';
  }
}

function boundText(value: string | null): string {
  if (value === null) return '*';
  return /^[\w.+-]+$/.test(value) && value !== 'TO' ? value : quote(value);
}
