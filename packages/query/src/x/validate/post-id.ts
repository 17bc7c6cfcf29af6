import { certain, error, replacement } from '../../diagnostics.ts';
import type { LeafRule } from './rule.ts';

/** Ids of posts are decimal numbers. */
export const postId: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '' || /^\d{1,20}$/.test(leaf.test.value)) return;
  const inLink = /status(?:es)?\/(\d{1,20})/.exec(leaf.test.value)?.[1];
  const message = `${leaf.field}: takes the number of a post, as in x.com/name/status/1961112223334445556.`;
  const fixes = inLink === undefined ? [] : [certain(replacement('Use the number', leaf.valueSpan, inLink))];
  view.report(error('bad_id', message, leaf.valueSpan, fixes));
};
