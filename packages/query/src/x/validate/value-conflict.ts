import type { AndNode, LeafNode, Span } from '../../ast.ts';
import { error, type Fix, suspicious } from '../../diagnostics.ts';
import { isSpace } from '../characters.ts';
import { conjuncts, type NodeRule, source, type View } from './rule.ts';

/** What a post has one of. An account may be named by its handle and its number, so only a language is decided. */
const single: Readonly<Record<string, string>> = {
  lang: 'language',
  from: 'author',
  to: 'account that it replies to',
  retweets_of: 'account that it retweets',
  place_country: 'country',
  conversation_id: 'conversation',
  in_reply_to_tweet_id: 'post that it replies to',
  retweets_of_tweet_id: 'post that it retweets',
};

/** Two values of an operator of which a post has one: they never match together. */
export const valueConflict: NodeRule<'and'> = (node, view) => {
  const byField = new Map<string, LeafNode[]>();
  for (const clause of leaves(node)) {
    if (single[clause.field] === undefined) continue;
    const same = byField.get(clause.field);
    if (same === undefined) byField.set(clause.field, [clause]);
    else same.push(clause);
  }
  for (const [field, clauses] of byField) if (clauses.length > 1) report(field, clauses, view);
};

function leaves(node: AndNode): readonly LeafNode[] {
  return conjuncts(node).filter((clause) => clause.kind === 'leaf');
}

function report(field: string, clauses: readonly LeafNode[], view: View): void {
  const [first, ...rest] = clauses;
  const values = new Map(
    clauses.map((clause) => [clause.test.type === 'term' ? clause.test.value : '', source(view, clause)]),
  );
  const other = rest[0];
  if (first === undefined || other === undefined || values.size < 2) return;
  const message = `A post has one ${single[field]}, so these never match together. Join them with OR.`;
  const fix: Fix = {
    title: 'Match either',
    certainty: 'certain',
    edits: [
      { span: first.span, text: `(${[...values.values()].map(bare).join(' OR ')})` },
      ...rest.map(({ span }) => ({ span: withSpaceBefore(view.text, span), text: '' })),
    ],
  };
  const found = field === 'lang' ? error : suspicious;
  view.report(found(field === 'lang' ? 'language_conflict' : 'value_conflict', message, other.span, [fix]));
}

/** The clause without its outer parentheses. */
function bare(clause: string): string {
  return clause.replaceAll(/^[\s(]+|[\s)]+$/g, '');
}

/** Cuts on the side of the clause that stays, so that two edits never overlap. */
function withSpaceBefore(text: string, [start, end]: Span): Span {
  let from = start;
  while (from > 0 && isSpace(text.charCodeAt(from - 1))) from -= 1;
  return [from, end];
}
