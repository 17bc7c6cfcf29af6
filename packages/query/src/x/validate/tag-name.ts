import type { LeafNode } from '../../ast.ts';
import { certain, error, type Fix, replacement, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { isListed } from './list.ts';
import type { LeafRule } from './rule.ts';

const hashtag = /^[\p{L}\p{M}\p{N}_\u200C\u200D]*[\p{L}\p{M}][\p{L}\p{M}\p{N}_\u200C\u200D]*$/u;
const cashtag = /^[a-z]{1,6}([._][a-z]{1,2})?$/i;

/** Names of hashtags and cashtags as X itself recognises them in posts. */
export const tagName: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || isListed(leaf, view)) return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  if ((leaf.field === 'hashtag' ? hashtag : cashtag).test(leaf.test.value)) return;
  const sigil = leaf.field === 'hashtag' ? '#' : '$';
  // X shows #1989 as no hashtag, but an older page of its documentation has it as a rule.
  const serverDecides = (leaf.field === 'cashtag' ? /^[\w.]+$/ : /^\d+$/).test(written);
  const message =
    leaf.field === 'hashtag'
      ? `${quoted(`#${written}`, 40)} is no hashtag: at least one letter, then letters, digits and _ only.`
      : `${quoted(`$${written}`, 40)} does not look like a cashtag: one to six letters. Quote it to search the text.`;
  view.report((serverDecides ? warning : error)('bad_tag', message, leaf.span, fixes(leaf, written, sigil)));
};

function fixes(leaf: LeafNode, written: string, sigil: '#' | '$'): Fix[] {
  const start = leaf.valueSpan[0] - 1;
  const span = [start, leaf.valueSpan[1]] as const;
  const pattern = sigil === '#' ? hashtag : cashtag;
  const trimmed = written.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}_]+$/gu, '');
  if (pattern.test(trimmed)) return [certain(replacement(`Write ${sigil}${trimmed}`, span, sigil + trimmed))];
  if (written.endsWith('\\')) return [];
  return [replacement('Search it as text', span, `"${sigil === '$' ? '$' : ''}${written}"`)];
}
