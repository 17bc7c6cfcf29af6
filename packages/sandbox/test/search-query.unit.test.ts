import { languages } from '@earshot/query';
import { expect, test } from 'vitest';
import { createPostWriter } from '../src/feed/posts.ts';
import { createRandom } from '../src/random.ts';
import { buildPost, type XPost } from '../src/x/post.ts';
import { compileSearch } from '../src/x/search-query.ts';

const { evaluate, validate } = languages.x;

let lastId = 1_000;
const nextId = () => String((lastId += 1));
const writePost = createPostWriter(createRandom(5), nextId);
const posts = Array.from({ length: 400 }, () => buildPost(writePost(), { nowMs: () => 0, nextId }))
  .filter((post): post is XPost => typeof post !== 'string')
  // Search does not find words in retweets and quoted posts.
  .filter(({ data }) => !/"type":"(retweeted|quoted)"/.test(JSON.stringify(data)));

const plain = (text: string) => text.normalize('NFD').replaceAll(/\p{M}/gu, '').normalize('NFC');
/** Every post is evaluated, with and without accents: obviously correct, and slow. */
function evaluatesTo(query: string, { data, includes }: XPost): boolean {
  const isMatch = (value: string, item: unknown) => {
    const { root } = validate(value, { tier: 'standard' });
    return root !== null && evaluate(root, item).state === 'match';
  };
  const item = { data, includes };
  return isMatch(query, item) || isMatch(plain(query), JSON.parse(plain(JSON.stringify(item))));
}

test.each([
  'rocket',
  'ROCKET lang:en',
  'outage OR fútbol',
  'futbol OR "minuto"',
  '#Outage -is:reply',
  'from:mira_okafor OR to:mira_okafor',
  '@northfieldwire is:reply',
  '(rocket OR chip) -football',
  '$SLTX OR ロケット',
  'lang:de fur',
])('the word lookup finds the same posts as evaluating every post: %s', (query) => {
  const matches = compileSearch(query);
  const expected = posts.filter((post) => evaluatesTo(query, post));
  expect(expected.length).toBeGreaterThan(0);
  expect(posts.filter((post) => matches?.(post))).toEqual(expected);
});
