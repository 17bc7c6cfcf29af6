import type { LeafNode } from '../../ast.ts';
import { error, type Fix, replacement, warning } from '../../diagnostics.ts';
import { closest, quoted } from '../../text.ts';
import { elsewhere, undocumented } from '../elsewhere.ts';
import { isImplied, operators } from '../tables.ts';
import { clauseSpan, type LeafRule, source, type View } from './rule.ts';

/** An operator that the filtered stream does not have: from another product, misspelt or invented. */
export const unknownOperator: LeafRule = (leaf, view) => {
  const name = leaf.field.replace(/:$/, '');
  const shown = quoted(name, 40);
  if (undocumented.has(name)) {
    const message = `${name}: is not on X's list for the stream. X decides when the rule is created.`;
    view.report(warning('undocumented_operator', message, leaf.span));
    return;
  }
  const known = elsewhere.get(name) ?? elsewhere.get(name.replace(/:.*$/, ''));
  if (known !== undefined) {
    const message = `The stream has no operator ${shown}: ${known.hint}.`;
    const fixes = known.instead === undefined ? [] : [insteadFix(leaf, view, known.instead)];
    view.report(error('unsupported_operator', message, leaf.span, fixes));
    return;
  }
  const near = nearest(name);
  const message = `X has no operator ${shown}.${near === null ? ' Quote the text if you mean the words.' : ` Did you mean ${near}?`}`;
  view.report(
    error(
      'unknown_operator',
      message,
      leaf.span,
      near === null ? quoteFix(leaf, view) : [nearFix(leaf, view, near)],
    ),
  );
};

function insteadFix(leaf: LeafNode, view: View, instead: string): Fix {
  const [start, end] = clauseSpan(leaf, view.text);
  const bare = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const sigil = /^[#$@]\{\}$/.test(instead);
  const value = sigil
    ? bare.replace(/^[#$@]/, '')
    : view.text.slice(start + leaf.field.replace(/:$/, '').length + 1, end).trimStart();
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

function nearFix(leaf: LeafNode, view: View, near: string): Fix {
  const [start, end] = clauseSpan(leaf, view.text);
  if (near.includes(':')) return replacement(`Write ${near}`, [start, end], near);
  return replacement(`Write ${near}:`, [start, start + leaf.field.length], near);
}

function quoteFix(leaf: LeafNode, view: View): Fix[] {
  const [start, end] = clauseSpan(leaf, view.text);
  const text = source(view, { span: [start, end] });
  if (text.includes('"') || text.endsWith('\\')) return [];
  return [replacement('Quote it', [start, end], `"${text}"`)];
}
