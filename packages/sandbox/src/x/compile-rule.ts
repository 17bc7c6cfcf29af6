import {
  type LeafNode,
  languages,
  leavesOf,
  type Node,
  requiredKeys,
  type Tier,
  upstreamDetails,
} from '@earshot/query';
import { hashOf } from '../hash.ts';
import type { Compiled } from '../match/compiled.ts';
import { longestWordOf } from '../match/words.ts';
import type { XKnobs } from './knobs.ts';
import type { XPost } from './post.ts';

const { evaluate, validate } = languages.x;

/** Errors are worded as X words them (x.md §10.4). A clause that a post does not decide, such as `embedding:`, never matches. */
export function compileXRule(
  value: string,
  { tier, lengthUnit = 'utf16' }: { tier: Tier; lengthUnit?: XKnobs['lengthUnit'] },
): Compiled<XPost> {
  if (lengthUnit !== 'utf16' && lengthsIn[lengthUnit](value) > lengthMax)
    return { ok: false, details: [`The rule is longer than ${lengthMax}`] };
  // The validator counts UTF-16 units; with twice as many it leaves the length to the line above.
  const { canonical, root, diagnostics } = validate(value, {
    tier: lengthUnit !== 'utf16' && tier === 'standard' ? 'enterprise' : tier,
  });
  // X accepts what is only suspicious.
  if (canonical === null || root === null) return { ok: false, details: upstreamDetails(value, diagnostics) };
  const percent = samplePercentOf(root);
  const rest = withoutSample(root);
  return {
    ok: true,
    matcher: {
      test: (post) => isInSample(post.id, percent) && evaluate(rest, post).state === 'match',
      anyOfKeys: requiredKeys(rest, keyOf),
    },
  };
}

const lengthMax = 1_024;
const lengthsIn = {
  code_points: (value: string) => Array.from(value).length,
  bytes: (value: string) => Buffer.byteLength(value),
};

/** Operators whose words, or whose exact value, must occur in a text of the post. */
const fieldsWithKey = new Set(
  (
    'keyword hashtag cashtag mention from to retweets_of bio bio_name bio_location url conversation_id ' +
    'in_reply_to_tweet_id retweets_of_tweet_id'
  ).split(' '),
);

/** What a post must have in some text to satisfy the leaf; undefined when it may do without. */
export function keyOf({ field, test }: LeafNode): string | undefined {
  if (!fieldsWithKey.has(field)) return undefined;
  if (test.type === 'term') return longestWordOf(test.value);
  return test.type === 'phrase' ? longestWordOf(test.words.join(' ')) : undefined;
}

function samplePercentOf(root: Node): number {
  const test = leavesOf(root).find(isSample)?.test;
  return test?.type === 'number' ? (test.low ?? 100) : 100;
}

/** A valid rule has `sample:` at most once, outside every OR and negation: it narrows the rule as a whole. */
function withoutSample(node: Node): Node {
  if (node.kind !== 'and') return node;
  const children = node.children.filter((child) => !isSample(child)).map(withoutSample);
  return { ...node, children };
}

function isSample(node: Node): boolean {
  return node.kind === 'leaf' && node.field === 'sample';
}

/** The same posts on every run, as on X; which posts X selects is not known. */
function isInSample(postId: string, percent: number): boolean {
  return percent === 100 || hashOf(postId) % 100 < percent;
}
