import type { LeafNode } from '../../ast.ts';
import { type Fix, replacement } from '../../diagnostics.ts';
import { closest, quoted } from '../../text.ts';
import { elsewhere, undocumented } from '../elsewhere.ts';
import { isImplied, operators } from '../tables.ts';
import { clauseSpan, type LeafRule, type Place, source } from './rule.ts';

/** A name that X's stream does not know: from another product, misspelt, or no operator at all. */
export const unknownOperator: LeafRule = (leaf, place) => {
  const name = leaf.field.replace(/:$/, '');
  const shown = quoted(name, 40);
  if (undocumented.has(name)) {
    place.report({
      severity: 'warning',
      code: 'undocumented_operator',
      message: `${name}: is not on X's list for the stream. X decides when the rule is created.`,
      span: leaf.span,
      fixes: [],
    });
    return;
  }
  const known = elsewhere.get(name) ?? elsewhere.get(name.replace(/:.*$/, ''));
  if (known !== undefined) {
    place.report({
      severity: 'error',
      code: 'unsupported_operator',
      message: `The stream has no operator ${shown}: ${known.hint}.`,
      span: leaf.span,
      fixes: known.instead === undefined ? [] : [insteadFix(leaf, place, known.instead)],
    });
    return;
  }
  const near = nearest(name);
  place.report({
    severity: 'error',
    code: 'unknown_operator',
    message: `X has no operator ${shown}.${near === null ? ' Quote the text if you mean the words.' : ` Did you mean ${near}?`}`,
    span: leaf.span,
    fixes: near === null ? quoteFix(leaf, place) : [nearFix(leaf, place, near)],
  });
};

function insteadFix(leaf: LeafNode, place: Place, instead: string): Fix {
  const [start, end] = clauseSpan(leaf, place.text);
  const bare = place.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const sigil = /^[#$@]\{\}$/.test(instead);
  const value = sigil
    ? bare.replace(/^[#$@]/, '')
    : place.text.slice(start + leaf.field.replace(/:$/, '').length + 1, end).trimStart();
  const text = instead.replace('{}', () => value);
  return replacement(`Write ${text.length > 40 ? instead.replace('{}', '…') : text}`, [start, end], text);
}

function nearest(name: string): string | null {
  const names = operators.flatMap((operator) =>
    isImplied(operator) ? [] : [operator.name, ...(operator.aliases ?? [])],
  );
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

function nearFix(leaf: LeafNode, place: Place, near: string): Fix {
  const [start, end] = clauseSpan(leaf, place.text);
  if (near.includes(':')) return replacement(`Write ${near}`, [start, end], near);
  return replacement(`Write ${near}:`, [start, start + leaf.field.length], near);
}

function quoteFix(leaf: LeafNode, place: Place): Fix[] {
  const [start, end] = clauseSpan(leaf, place.text);
  const text = source(place, { span: [start, end] });
  if (text.includes('"') || text.endsWith('\\')) return [];
  return [replacement('Quote it', [start, end], `"${text}"`)];
}
