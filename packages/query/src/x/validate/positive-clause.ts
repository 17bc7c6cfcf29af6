import type { LeafNode, Node, OrNode, Test } from '../../ast.ts';
import { certain, error, type Fix, replacement, suspicious, warning } from '../../diagnostics.ts';
import type { Dialect } from '../dialect.ts';
import { shown, source, type View } from './rule.ts';

/** Observed or suspected to be refused alone (x.md §10.1). */
export const stopWords: ReadonlySet<string> = new Set(
  'a an and at but by com from http https if in is it its me my or rt the this to too via we www you'.split(
    ' ',
  ),
);

const no = 0;
const stopWord = 1;
const unclear = 2;
const yes = 3;

/**
 * Every branch needs a clause that can stand alone, not negated: pos(AND) = any child, pos(OR) = all children
 * (x.md §10.1). Levels rather than booleans, because stop words and operators of unclear type are not refused by all
 * accounts. Answers whether the rule has such a clause.
 */
export function positiveClause(root: Node, view: View): boolean {
  blame(root, null, view);
  return level(root, view.dialect) > stopWord;
}

function level(node: Node, dialect: Dialect): number {
  switch (node.kind) {
    case 'leaf':
      return leafLevel(node, dialect);
    case 'and':
      return highest(node.children, dialect);
    case 'or':
      return lowest(node.children, dialect);
    case 'not':
    case 'never':
      return no;
  }
}

function highest(nodes: readonly Node[], dialect: Dialect): number {
  let best: number = no;
  for (const node of nodes) best = Math.max(best, level(node, dialect));
  return best;
}

function lowest(nodes: readonly Node[], dialect: Dialect): number {
  let worst: number = yes;
  for (const node of nodes) worst = Math.min(worst, level(node, dialect));
  return worst;
}

function leafLevel({ field, test }: LeafNode, { findOperator, undocumented }: Dialect): number {
  if (field === 'keyword') return isStopWord(test) ? stopWord : yes;
  const operator = findOperator(field);
  if (operator === undefined) return undocumented.has(field) ? unclear : yes;
  if (operator.standalone === 'no') return no;
  return operator.standalone === 'unclear' ? unclear : yes;
}

function isStopWord(test: Test): boolean {
  if (test.type === 'term') return stopWords.has(test.value);
  return test.type === 'phrase' && test.words.every((word) => stopWords.has(word));
}

/** Reports the failing branches, as deep in the tree as possible. */
function blame(node: Node, branchOf: OrNode | null, view: View): void {
  const own = level(node, view.dialect);
  if (own === yes) return lintNegatedBranches(node, view);
  if (node.kind === 'or') {
    for (const child of node.children) blame(child, node, view);
    return;
  }
  const group =
    node.kind === 'and'
      ? node.children.find(
          (child) =>
            child.kind === 'or' && child.children.some((branch) => level(branch, view.dialect) > own),
        )
      : undefined;
  if (group !== undefined) return blame(group, branchOf, view);
  if (own === no) reportNothingPositive(node, branchOf, view);
  else reportSuspicious(node, own, view);
}

function reportNothingPositive(node: Node, branchOf: OrNode | null, view: View): void {
  const filter = firstPositive(node);
  const fixes = branchOf === null ? [] : joinFix(branchOf, view);
  if (filter !== null) {
    const message = `${shown(view, filter)} cannot stand alone${branchOf === null ? '' : ' in a branch of OR'}. Add a word, phrase, hashtag or account next to it.`;
    view.report(error('needs_standalone', message, filter.span, fixes));
  } else if (branchOf === null) {
    const message = 'The rule only excludes. Add a word, phrase, hashtag or account that posts must have.';
    const fixes = node.kind === 'not' && node.child.kind === 'leaf' ? undash(node, node.child, view) : [];
    view.report(error('only_negations', message, node.span, fixes));
  } else {
    const message =
      'This branch of OR would match every post without the clause. Exclude it from the others instead.';
    view.report(error('negated_or_branch', message, node.span, fixes));
  }
}

function undash(node: Node, leaf: LeafNode, { dialect }: View): Fix[] {
  if (dialect.findOperator(leaf.field)?.standalone !== 'yes') return [];
  return [replacement('Require it instead', [node.span[0], leaf.span[0]], '')];
}

function reportSuspicious(node: Node, own: number, view: View): void {
  if (own === stopWord) {
    view.report(suspicious('stop_words_only', view.dialect.texts.stopWords, node.span));
    return;
  }
  const message = `${view.dialect.name} does not say whether this can stand alone. Add a word, phrase, hashtag or account to be safe.`;
  view.report(warning('may_not_stand_alone', message, node.span));
}

/** A branch of exclusions in an otherwise valid rule seems to be legal, but holds for nearly every post. */
function lintNegatedBranches(node: Node, view: View): void {
  if (node.kind === 'leaf' || node.kind === 'not' || node.kind === 'never') return;
  for (const child of node.children) {
    if (node.kind === 'or' && child.kind === 'not') {
      const message = view.dialect.texts.negatedBranch;
      view.report(suspicious('negated_or_branch', message, child.span, joinFix(node, view)));
    }
    lintNegatedBranches(child, view);
  }
}

function firstPositive(node: Node): LeafNode | null {
  if (node.kind === 'leaf') return node;
  if (node.kind === 'not' || node.kind === 'never') return null;
  for (const child of node.children) {
    const found = firstPositive(child);
    if (found !== null) return found;
  }
  return null;
}

/** `a lang:no OR lang:da` can only mean `a (lang:no OR lang:da)`. */
function sameFilterFix(or: OrNode, view: View): Fix[] {
  const [first, ...rest] = or.children;
  const clauses = first?.kind === 'and' ? first.children : [];
  const filter = clauses.at(-1);
  const last = rest.at(-1);
  if (filter?.kind !== 'leaf' || last === undefined || level(filter, view.dialect) > no) return [];
  if (clauses.slice(0, -1).every((clause) => level(clause, view.dialect) === no)) return [];
  if (!rest.every((child) => child.kind === 'leaf' && family(child.field) === family(filter.field)))
    return [];
  const group = [filter, ...rest].map((child) => source(view, child)).join(' OR ');
  return [certain(replacement('Group the filters', [filter.span[0], last.span[1]], `(${group})`))];
}

function family(field: string): string {
  return field.replace(/:.*$/, '');
}

/** `a OR b OR -c` becomes `(a OR b) -c`: branches that cannot stand alone become conditions on the others. */
function joinFix(or: OrNode, view: View): Fix[] {
  const grouped = sameFilterFix(or, view);
  if (grouped.length > 0) return grouped;
  const sound = or.children.filter((child) => level(child, view.dialect) > no);
  const rest = or.children.filter((child) => level(child, view.dialect) === no);
  const first = or.children[0];
  const last = or.children.at(-1);
  if (sound.length === 0 || first === undefined || last === undefined) return [];
  const kept = sound.map((child) => source(view, child)).join(' OR ');
  const text = [sound.length > 1 ? `(${kept})` : kept, ...rest.map((child) => source(view, child))].join(' ');
  return [replacement('Make it a condition on the other branches', [first.span[0], last.span[1]], text)];
}
