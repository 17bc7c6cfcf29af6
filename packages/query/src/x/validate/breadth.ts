import type { LeafNode } from '../../ast.ts';
import { broadRule, type Weight } from '../../breadth.ts';
import type { Dialect } from '../dialect.ts';
import { stopWords } from './positive-clause.ts';
import { source, type TreeRule } from './rule.ts';

const weights: Readonly<Record<string, Weight>> = {
  cashtag: 2,
  bio: 2,
  bio_name: 2,
  bio_location: 2,
  place: 2,
  place_country: 2,
  url_title: 2,
  url_description: 2,
  min_followers: 1,
  followers_count: 1,
  listed_count: 1,
  tweets_count: 0,
  following_count: 0,
  lang: 0,
  source: 0,
};

export const breadth: TreeRule = (root, view) => {
  let hasUnknown = false;
  const found = broadRule(
    root,
    (leaf) => {
      hasUnknown ||= view.dialect.findOperator(leaf.field) === undefined;
      return isOperatorWord(source(view, leaf)) ? 0 : weightOf(leaf, view.dialect);
    },
    view.dialect.texts,
  );
  // An unknown operator may have been meant to narrow the rule.
  if (found !== null && !(hasUnknown && found.severity === 'suspicious')) view.report(found);
};

/** Tags up to this length, such as `#AI` and `#news`, are as common as words. Longer tags are names. */
const shortTag = 5;

/** A misspelt operator, which other checks report. It does not narrow the rule. */
function isOperatorWord(text: string): boolean {
  return text.length <= 3 && /^(?:AND|OR|NOT|and|or)$/.test(text);
}

function weightOf({ field, test }: LeafNode, { findOperator }: Dialect): Weight {
  if (test.type === 'flag' || findOperator(field) === undefined) return 0;
  if (field === 'url' || field === 'url_contains') return matchesEveryLink(test) ? 0 : 3;
  if (field === 'hashtag') return test.type === 'term' && test.value.length <= shortTag ? 2 : 3;
  if (field === 'context') return test.type === 'term' && test.value.endsWith('.*') ? 2 : 3;
  const known = weights[field];
  if (known !== undefined) return known;
  // An account, a post, an area, a percentage.
  if (field !== 'keyword') return 3;
  const given = test.type === 'phrase' ? test.words : test.type === 'term' ? [test.value] : [];
  const distinctive = given.filter((word) => !stopWords.has(word));
  if (distinctive.length === 0) return 0;
  const isSeveral =
    distinctive.length > 1 || /\p{L}[^\p{L}\p{M}\p{N}]+[\p{L}\p{N}]/u.test(distinctive[0] ?? '');
  return test.type === 'phrase' && isSeveral ? 3 : 2;
}

function matchesEveryLink(test: LeafNode['test']): boolean {
  const value = test.type === 'phrase' ? test.words.join(' ') : test.type === 'term' ? test.value : '';
  return /^[\W_]*(?:https?|www|com|t\.co)?[\W_]*$/.test(value);
}
