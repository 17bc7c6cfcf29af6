import type { LeafNode, NotNode } from '../../ast.ts';
import { certain, error, type Fix, replacement, warning } from '../../diagnostics.ts';
import { closest, quoted } from '../../text.ts';
import { cutting } from '../cut.ts';
import { type Dialect, isImplied } from '../dialect.ts';
import type { Elsewhere } from '../elsewhere.ts';
import { clauseSpan, type LeafRule, source, type View } from './rule.ts';

/** An operator that the filtered stream does not have: from another product, misspelt or invented. */
export const unknownOperator: LeafRule = (leaf, view, negation) => {
  const name = leaf.field.replace(/:$/, '');
  const shown = quoted(name, 40);
  if (view.dialect.undocumented.has(name)) {
    const message = `${name}: is not on ${view.dialect.name}'s list for the stream. ${view.dialect.name} decides when the rule is created.`;
    view.report(warning('undocumented_operator', message, leaf.span));
    return;
  }
  const list = flagList(leaf, view, negation);
  if (list !== null) {
    view.report(error('one_value', 'An operator takes one value. Write a clause for each.', leaf.span, list));
    return;
  }
  const known = elsewhereOf(leaf, view, name);
  if (known !== undefined) {
    const message = `${view.dialect.texts.stream} has no operator ${shown}: ${known.hint}.`;
    view.report(
      error('unsupported_operator', message, leaf.span, elsewhereFixes(leaf, view, known, negation)),
    );
    return;
  }
  const near = nearestIn(view, name);
  const message = `${view.dialect.name} has no operator ${shown}.${near === null ? '' : ` Did you mean ${near}?`}`;
  const fixes = near === null ? removal(leaf, view, negation) : [nearFix(leaf, view, near)];
  view.report(error('unknown_operator', message, leaf.span, fixes));
};

/** By name and value, or by name alone. */
function elsewhereOf(leaf: LeafNode, view: View, name: string): Elsewhere | undefined {
  const value = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]).toLowerCase();
  const { elsewhere } = view.dialect;
  return elsewhere.get(`${name}:${value}`) ?? elsewhere.get(name) ?? elsewhere.get(name.replace(/:.*$/, ''));
}

function elsewhereFixes(
  leaf: LeafNode,
  view: View,
  { instead, certainty, isNeverTrue, rewrite }: Elsewhere,
  negation: NotNode | null,
): Fix[] {
  if (isNeverTrue) return negation?.child === leaf ? removal(leaf, view, negation).map(certain) : [];
  if (instead === undefined) return removal(leaf, view, negation);
  // `-exclude:retweets` and the like say nothing clear.
  if (instead.startsWith('-') && negation !== null) return [];
  if (instead === '') return removal(leaf, view, negation).map(certain);
  const fix = insteadFix(leaf, view, instead, rewrite);
  if (fix === null) return [];
  return [certainty === 'guess' ? fix : certain(fix)];
}

/** `-is:retweet,-is:reply`: several flags behind one another. */
function flagList(leaf: LeafNode, view: View, negation: NotNode | null): Fix[] | null {
  const [start, end] = clauseSpan(leaf, view.text);
  const parts = source(view, { span: [start, end] })
    .split(',')
    .map((part) => part.replace(/^-/, ''));
  const family = /^(?:is|has):/.exec(leaf.field)?.[0];
  if (family === undefined || parts.length < 2) return null;
  const flags = parts.map((part) => (part.includes(':') ? part : family + part));
  if (!flags.every((flag) => view.dialect.findOperator(flag.toLowerCase()) !== undefined)) return null;
  return negation === null
    ? [replacement('Either is enough: OR', [start, end], `(${flags.join(' OR ')})`)]
    : [certain(replacement('Exclude each', [start, end], flags.join(' -')))];
}

/** Quoting it instead would look for words that no post has. */
function removal(leaf: LeafNode, view: View, negation: NotNode | null): Fix[] {
  const { span } = negation?.child === leaf ? negation : leaf;
  const isAlone = span[0] === 0 && span[1] === view.text.length;
  return isAlone ? [] : [cutting('Remove it', view.text, span)];
}

function insteadFix(leaf: LeafNode, view: View, instead: string, rewrite: Elsewhere['rewrite']): Fix | null {
  const [start, end] = clauseSpan(leaf, view.text);
  const bare = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const sigil = /^[#$@]\{\}$/.test(instead);
  const written = sigil
    ? bare.replace(/^[#$@]/, '')
    : view.text.slice(start + leaf.field.replace(/:$/, '').length + 1, end).trimStart();
  if (rewrite !== undefined && !rewrite[0].test(written)) return null;
  const value = rewrite === undefined ? written : written.replace(...rewrite);
  const text = instead.replace('{}', () => value);
  return replacement(`Write ${text.length > 40 ? instead.replace('{}', '…') : text}`, [start, end], text);
}

/** A name that is wrong once is often wrong throughout the text, and each comparison with all operators takes a while. */
const alreadyFound = new WeakMap<View, Map<string, string | null>>();

function nearestIn(view: View, name: string): string | null {
  const found = alreadyFound.get(view) ?? new Map<string, string | null>();
  alreadyFound.set(view, found);
  const near = found.get(name) ?? (found.has(name) ? null : nearest(name, view.dialect));
  found.set(name, near);
  return near;
}

function nearest(name: string, { operators }: Dialect): string | null {
  const names = operators.flatMap((operator) => (isImplied(operator) ? [] : [operator.name]));
  const family = /^(is|has):/.exec(name)?.[0];
  if (family === undefined)
    return closest(
      name,
      names.filter((candidate) => !candidate.includes(':')),
    );
  const flags = names
    .filter((candidate) => candidate.startsWith(family))
    .map((candidate) => candidate.slice(family.length));
  const found = closest(name.slice(family.length), flags);
  return found === null ? null : family + found;
}

function nearFix(leaf: LeafNode, view: View, near: string): Fix {
  const [start, end] = clauseSpan(leaf, view.text);
  if (near.includes(':')) return replacement(`Write ${near}`, [start, end], near);
  return replacement(`Write ${near}:`, [start, start + leaf.field.length], near);
}
