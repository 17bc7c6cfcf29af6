import { replacement } from '../../diagnostics.ts';
import type { LeafRule } from './rule.ts';

/** Ids of posts are decimal numbers. */
export const postId: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '' || /^\d{1,20}$/.test(leaf.test.value)) return;
  const inLink = /status(?:es)?\/(\d{1,20})/.exec(leaf.test.value)?.[1];
  view.report({
    severity: 'error',
    code: 'bad_id',
    message: `${leaf.field}: takes the number of a post, as in x.com/name/status/1961112223334445556.`,
    span: leaf.valueSpan,
    fixes: inLink === undefined ? [] : [replacement('Use the number', leaf.valueSpan, inLink)],
  });
};
