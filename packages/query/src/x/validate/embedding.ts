import { replacement } from '../../diagnostics.ts';
import { leavesOf } from '../../explain.ts';
import { clauseWithSpace } from '../cut.ts';
import { type LeafRule, type TreeRule } from './rule.ts';

/** The description of `embedding:` must be quoted. */
export const embeddingText: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'phrase' && leaf.test.words.length > 0) return;
  if (leaf.valueSpan[0] === leaf.valueSpan[1] && leaf.test.type !== 'phrase') return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  view.report({
    severity: 'error',
    code: 'unquoted_value',
    message: 'embedding: takes a description in quotes.',
    span: leaf.valueSpan,
    fixes:
      leaf.test.type === 'phrase' || written.endsWith('\\')
        ? []
        : [replacement('Quote it', leaf.valueSpan, `"${written}"`)],
  });
};

/** `embedding_threshold:` belongs to an `embedding:` of the same rule. */
export const embeddingThreshold: TreeRule = (root, view) => {
  const leaves = leavesOf(root);
  const threshold = leaves.find(({ field }) => field === 'embedding_threshold');
  if (threshold === undefined || leaves.some(({ field }) => field === 'embedding')) return;
  view.report({
    severity: 'error',
    code: 'threshold_without_embedding',
    message: 'embedding_threshold: sets the similarity of an embedding: clause, and this rule has none.',
    span: threshold.span,
    fixes: [replacement('Remove it', clauseWithSpace(view.text, threshold.span), '')],
  });
};
