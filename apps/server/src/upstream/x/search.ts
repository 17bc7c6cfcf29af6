import { searchability } from '@earshot/query';
import { z } from 'zod';
import type { UpstreamClient } from '../client.ts';
import type { PostSearch, SearchAsked, SearchFidelity, SearchPage } from '../platform.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { problemOf } from './ending.ts';
import { fields } from './stream.ts';

const path = '/2/tweets/search/recent';
const credentialRetryMs = 900_000;

const objects = z.array(z.looseObject({})).nullish();
const pageSchema = z.looseObject({
  data: objects,
  includes: z.looseObject({ users: objects, tweets: objects, media: objects, places: objects }).nullish(),
  meta: z.looseObject({ next_token: z.string().nullish() }).nullish(),
});

type Wire = Record<string, unknown>;
type Includes = NonNullable<z.output<typeof pageSchema>['includes']>;

/** Recent search: seven days back, newest first. Its times are whole seconds, so the window is widened to them. */
export function createXSearch(client: UpstreamClient): PostSearch {
  return {
    reachesBackMs: 7 * 24 * 3_600_000,
    pageSize: { min: 10, max: 100 },
    // 450 calls in 15 minutes.
    callIntervalMs: 2_000,
    fidelityOf,
    async page(asked, signal) {
      const answer = await client.call('GET', `${path}?${parametersOf(asked)}`, { signal });
      const { status, body, retryAfterMs } = answer;
      if (status === 400)
        return { kind: 'refused', words: problemOf(body).detail ?? problemOf(body).title ?? '' };
      const page = pageSchema.safeParse(body);
      if (status !== 200 || !page.success) {
        const credential = status === 401 || status === 402 || status === 403;
        throw new UpstreamUnavailable(`X answered ${status} to a search`, {
          retryAfterMs: retryAfterMs ?? (credential ? credentialRetryMs : null),
        });
      }
      return toPage(page.data, asked.rule);
    },
  };
}

/** Search has fewer operators than the stream, takes shorter values, and finds less. */
function fidelityOf(value: string): SearchFidelity {
  const verdict = searchability(value);
  if (!verdict.searchable) {
    const because =
      verdict.operator === null ? 'value_too_long_to_search' : `no_search_for_${verdict.operator}`;
    return { searchable: false, because };
  }
  const ofWords = verdict.hasWords ? ['retweets_missing', 'quoted_text_not_searched', 'accents_ignored'] : [];
  return { searchable: true, fidelity: [...ofWords, 'deleted_posts_missing'] };
}

function parametersOf({ value, from, to, size, token }: SearchAsked): string {
  const seconds = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  return new URLSearchParams({
    ...Object.fromEntries(fields),
    query: value,
    start_time: seconds(Math.floor(from.getTime() / 1_000) * 1_000),
    end_time: seconds(Math.ceil(to.getTime() / 1_000) * 1_000),
    max_results: String(size),
    ...(token !== null && { next_token: token }),
  }).toString();
}

function toPage(
  { data, includes, meta }: z.output<typeof pageSchema>,
  rule: SearchAsked['rule'],
): SearchPage {
  const items = (data ?? []).map((post) => {
    const own = includes ? includesOf(post, includes) : {};
    const record = {
      data: post,
      ...(Object.keys(own).length > 0 && { includes: own }),
      matching_rules: [rule],
    };
    return { text: JSON.stringify(record), upstreamId: null };
  });
  return { kind: 'page', items, next: meta?.next_token ?? null };
}

/** A page has the includes of all its posts together; a record of the stream only its own. */
function includesOf(post: Wire, { users, tweets, media, places }: Includes): Wire {
  const ids = idsIn(post);
  const referenced = (tweets ?? []).filter(({ id }) => ids.has(id));
  const all = new Set([...ids, ...referenced.flatMap((tweet) => [...idsIn(tweet)])]);
  const own = {
    users: users?.filter(({ id, username }) => all.has(id) || all.has(username)),
    tweets: referenced,
    media: media?.filter((one) => all.has(one['media_key'])),
    places: places?.filter(({ id }) => all.has(id)),
  };
  return Object.fromEntries(Object.entries(own).filter(([, list]) => list !== undefined && list.length > 0));
}

const referring = new Set(['author_id', 'in_reply_to_user_id', 'id', 'username', 'place_id']);

/** Every value by which the post refers to something, wherever it stands. */
function idsIn(value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (Array.isArray(value)) for (const one of value) idsIn(one, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      if (referring.has(key)) found.add(one);
      else if (key === 'media_keys' && Array.isArray(one)) for (const mediaKey of one) found.add(mediaKey);
      else idsIn(one, found);
    }
  }
  return found;
}
