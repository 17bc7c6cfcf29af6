import { certain, error, replacement } from '../../diagnostics.ts';
import { leavesOf } from '../../explain.ts';
import { cutting } from '../cut.ts';
import { type LeafRule, type TreeRule } from './rule.ts';

/** The description of `embedding:` must be quoted. */
export const embeddingText: LeafRule = (leaf, view) => {
  if (leaf.test.type === 'phrase' && leaf.test.words.length > 0) return;
  if (leaf.valueSpan[0] === leaf.valueSpan[1] && leaf.test.type !== 'phrase') return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const message = 'embedding: takes a description in quotes.';
  const fixes =
    leaf.test.type === 'phrase' || written.endsWith('\\')
      ? []
      : [certain(replacement('Quote it', leaf.valueSpan, `"${written}"`))];
  view.report(error('unquoted_value', message, leaf.valueSpan, fixes));
};

/** `embedding_threshold:` belongs to an `embedding:` of the same rule. */
export const embeddingThreshold: TreeRule = (root, view) => {
  const leaves = leavesOf(root);
  const threshold = leaves.find(({ field }) => field === 'embedding_threshold');
  if (threshold === undefined || leaves.some(({ field }) => field === 'embedding')) return;
  const message = 'embedding_threshold: sets the similarity of an embedding: clause, and this rule has none.';
  const fix = cutting('Remove it', view.text, threshold.span);
  view.report(error('threshold_without_embedding', message, threshold.span, [fix]));
};
