import type { Node } from '../ast.ts';
import type { Parsed } from '../language.ts';
import type { Dialect } from './dialect.ts';
import { ofPlaces } from './exclusions.ts';
import { printLeaf } from './print.ts';

/**
 * One text for equal rules: values are folded, aliases and redundant quotes replaced, groups flattened, negations
 * pushed down to the clauses, duplicates and absorbed parts dropped (`a (a OR b)` is `a`), the rest sorted. No rewrite
 * changes what matches. X compares rules by their text, so this is the text that is registered.
 */
export function canonical(
  { text: written, root, diagnostics }: Omit<Parsed, 'tokens'>,
  { lengthMax }: Dialect,
): string | null {
  if (root === null || diagnostics.some(({ severity }) => severity === 'error')) return null;
  const { text } = normalise(root);
  const limit = written.length <= lengthMax.standard ? lengthMax.standard : lengthMax.enterprise;
  if (text.length <= limit || written.length > limit) return text;
  // Canonical aliases or quotes may exceed X's length limit although the original text does not: keep the original.
  return written.trim().replaceAll(/\s+/g, ' ');
}

/** Whether a part of the rule requires what it excludes, once groups are flattened and negations pushed down. */
export function isContradictory(root: Node, { implied }: Dialect): boolean {
  return clashes(normalise(root), implied);
}

function clashes({ kind, parts }: Printed, implied: Dialect['implied']): boolean {
  if (parts.some((part) => clashes(part, implied))) return true;
  if (kind !== 'and') return false;
  const texts = new Set(parts.map(({ text }) => text));
  const given = new Set(parts.flatMap(({ text }) => implied.get(text) ?? []));
  const isExcluded = ({ kind: own, text }: Printed): boolean =>
    own === 'not' && (texts.has(text.slice(1)) || given.has(text.slice(1)));
  if (parts.some(isExcluded)) return true;
  return texts.has('is:retweet') && parts.some(isOfPlace);
}

function isOfPlace({ kind, text }: Printed): boolean {
  return kind === 'leaf' && (ofPlaces.has(text) || ofPlaces.has(/^\w+/.exec(text)?.[0] ?? ''));
}

interface Printed {
  readonly kind: 'leaf' | 'not' | 'and' | 'or' | 'other';
  readonly text: string;
  readonly parts: readonly Printed[];
}

const noParts: readonly Printed[] = [];

function normalise(node: Node): Printed {
  switch (node.kind) {
    case 'leaf':
      return { kind: 'leaf', text: printLeaf(node), parts: noParts };
    case 'not':
      return negated(normalise(node.child));
    case 'and':
    case 'or':
      return joined(node.kind, node.children.map(normalise));
    case 'never':
      return { kind: 'other', text: '', parts: noParts };
  }
}

/** -(a OR b) is -a -b. Other groups have no legal form; validation refuses them, and they are printed as written. */
function negated(child: Printed): Printed {
  if (child.kind === 'leaf') return { kind: 'not', text: `-${child.text}`, parts: noParts };
  if (child.kind === 'or' && child.parts.every(({ kind }) => kind === 'leaf'))
    return joined('and', child.parts.map(negated));
  return { kind: 'other', text: `-(${child.text})`, parts: noParts };
}

function joined(kind: 'and' | 'or', children: readonly Printed[]): Printed {
  const parts: Printed[] = [];
  let nested = false;
  const inner = kind === 'and' ? 'or' : 'and';
  for (const child of children) {
    if (child.kind === inner) nested = true;
    if (child.kind !== kind) insert(parts, child);
    else for (const part of child.parts) insert(parts, part);
    if (child.kind === kind) nested = true;
  }
  const kept = nested ? withoutAbsorbed(parts, inner) : parts;
  const [only] = kept;
  if (only !== undefined && kept.length === 1) return only;
  let text = '';
  for (const part of kept) {
    if (text !== '') text += kind === 'or' ? ' OR ' : ' ';
    text += kind === 'and' && part.kind === 'or' ? `(${part.text})` : part.text;
  }
  return { kind, text, parts: kept };
}

/** Inserts into a sorted list without duplicates; rules are short, so a list is faster than a tree. */
function insert(parts: Printed[], part: Printed): void {
  const at = placeOf(parts, part.text);
  if (at === parts.length) parts.push(part);
  else if (parts[at]?.text !== part.text) parts.splice(at, 0, part);
}

/** The index of the text in the sorted list, or the index at which to insert it. */
function placeOf(parts: readonly Printed[], text: string): number {
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(parts[middle]?.text ?? '', text)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Exclusions last; otherwise by code units, which do not depend on the locale. */
function isBefore(left: string, right: string): boolean {
  const rightExcludes = right.charCodeAt(0) === 0x2d;
  if ((left.charCodeAt(0) === 0x2d) !== rightExcludes) return rightExcludes;
  return left < right;
}

/** a (a OR b) is a, and so is a OR (a b). */
function withoutAbsorbed(parts: readonly Printed[], inner: 'and' | 'or'): readonly Printed[] {
  const isListed = ({ text }: Printed): boolean => parts[placeOf(parts, text)]?.text === text;
  return parts.filter((part) => part.kind !== inner || !part.parts.some(isListed));
}
