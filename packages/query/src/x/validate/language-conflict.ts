import type { LeafNode, Span } from '../../ast.ts';
import { error } from '../../diagnostics.ts';
import { isSpace } from '../characters.ts';
import { conjuncts, type NodeRule } from './rule.ts';

/** A post has one language, so two different ones never match together. */
export const languageConflict: NodeRule<'and'> = (node, view) => {
  const languages = conjuncts(node).filter(
    (clause): clause is LeafNode => clause.kind === 'leaf' && clause.field === 'lang',
  );
  if (languages.length < 2) return;
  const [first, ...rest] = languages;
  const codes = new Set(languages.map(({ test }) => (test.type === 'term' ? test.value : '')));
  const other = rest[0];
  if (first === undefined || other === undefined || codes.size < 2) return;
  const group = `(${[...codes].map((code) => `lang:${code}`).join(' OR ')})`;
  const message = 'A post has one language, so these can never both match. Join them with OR.';
  const fixes = [
    {
      title: 'Match either language',
      edits: [
        { span: first.span, text: group },
        ...rest.map(({ span }) => ({ span: withSpaceBefore(view.text, span), text: '' })),
      ],
    },
  ];
  view.report(error('language_conflict', message, other.span, fixes));
};

/** Cuts on the side of the clause that stays, so that two edits never overlap. */
function withSpaceBefore(text: string, [start, end]: Span): Span {
  let from = start;
  while (from > 0 && isSpace(text.charCodeAt(from - 1))) from -= 1;
  return [from, end];
}
