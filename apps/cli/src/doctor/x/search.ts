import { at, listAt } from '../json.ts';
import { type Bench, type Observation, type Step, seen } from '../step.ts';
import { postUsd } from './posts.ts';
import { problemWords } from './rules.ts';

const pageSize = 10;
/** Three pages of posts. One of them also has the referenced posts, at most two for each post. */
const usdMax = pageSize * (3 * postUsd + 2 * postUsd);

export const x6: Step = {
  id: 'X6',
  about: 'the field names of search',
  calls: 'GET search/recent twice, GET search/all once, 10 posts each',
  usdMax,
  async *run(bench) {
    yield await seeWords(bench);
    yield await seeArchive(bench);
  },
};

async function search(
  { http, throwIfStopped, busyRule }: Bench,
  archive: string,
  fields: Record<string, string>,
) {
  throwIfStopped();
  const query = new URLSearchParams({ query: busyRule, max_results: String(pageSize), ...fields });
  return http.call('GET', `/2/tweets/search/${archive}?${query.toString()}`);
}

async function seeWords(bench: Bench): Promise<Observation> {
  const newer = await search(bench, 'recent', {
    'post.fields': 'created_at,note_post',
    expansions: 'referenced_posts',
  });
  const older = await search(bench, 'recent', { 'tweet.fields': 'created_at,note_tweet' });
  const isTaken = newer.status === 200;
  const words = [
    `post.fields ${isTaken ? 'taken' : problemWords(newer)}`,
    `tweet.fields ${older.status === 200 ? 'taken' : problemWords(older)}`,
    ...includedIn(newer.body),
  ];
  const isInOlderWords = at(newer.body, 'includes', 'tweets') !== undefined;
  return seen('X-45', isTaken && !isInOlderWords, words.join(', '));
}

function includedIn(body: unknown): string[] {
  return ['posts', 'tweets'].flatMap((name) =>
    listAt(body, 'includes', name).length > 0 ? [`includes.${name}`] : [],
  );
}

async function seeArchive(bench: Bench): Promise<Observation> {
  const answer = await search(bench, 'all', {});
  return seen('X-54', answer.status === 200, answer.status === 200 ? 'open' : problemWords(answer));
}
