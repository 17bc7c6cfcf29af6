import { searchability } from '@earshot/query';
import { z } from 'zod';
import type { UpstreamClient } from '../client.ts';
import type { PostSearch, SearchFidelity, SearchPage, SearchQuery } from '../platform.ts';
import { UpstreamUnavailable } from '../upstream-rules.ts';
import { problemOf, wordsAfterColon, wordsOf } from './ending.ts';
import { fieldsOf, inStreamNames, wholeSeconds } from './fields.ts';
import { defaultXExpansions, type XExpansions, type XPlan, type XSearchArchive } from './settings.ts';

const credentialRetryMs = 900_000;

interface Archive {
  readonly path: string;
  readonly reachesBackMs: number;
  readonly callIntervalMs: number;
  readonly valueLengthMax: number;
}

const archives: Readonly<Record<XSearchArchive, Archive>> = {
  // 450 calls in 15 minutes.
  recent: {
    path: '/2/tweets/search/recent',
    reachesBackMs: 7 * 24 * 3_600_000,
    callIntervalMs: 2_000,
    valueLengthMax: 512,
  },
  // 300 calls in 15 minutes, one per second. Reaches back further than any stored match.
  all: {
    path: '/2/tweets/search/all',
    reachesBackMs: 365 * 24 * 3_600_000,
    callIntervalMs: 3_000,
    valueLengthMax: 1_024,
  },
};

const objects = z.array(z.looseObject({})).nullish();
const pageSchema = z.looseObject({
  data: objects,
  includes: z.looseObject({ users: objects, tweets: objects, media: objects, places: objects }).nullish(),
  meta: z.looseObject({ next_token: z.string().nullish() }).nullish(),
});

type Wire = Record<string, unknown>;
type Includes = NonNullable<z.output<typeof pageSchema>['includes']>;

const enterpriseLengthMax = 4_096;

interface XSearchOptions {
  readonly expansions?: XExpansions;
  readonly archive?: XSearchArchive;
  readonly plan?: XPlan;
}

/** X search, newest first. */
export function createXSearch(
  client: UpstreamClient,
  { expansions = defaultXExpansions, archive = 'recent', plan = 'payg' }: XSearchOptions = {},
): PostSearch {
  const { path, reachesBackMs, callIntervalMs, valueLengthMax } = archives[archive];
  const lengthMax = plan === 'payg' ? valueLengthMax : enterpriseLengthMax;
  // Tries the current field names first, then the older ones of X's guides, then none. A post with only its text is
  // better than a gap.
  const fieldSets = [fieldsOf('post', expansions), fieldsOf('tweet', expansions), {}];
  let fieldSet = 0;
  return {
    reachesBackMs,
    pageSize: { min: 10, max: 100 },
    callIntervalMs,
    fidelityOf: (value) => fidelityOf(value, lengthMax),
    async page(search, signal) {
      for (;;) {
        const tried = fieldSet;
        const fields = fieldSets[tried] ?? {};
        const query = new URLSearchParams({ ...fields, ...parametersOf(search) });
        const answer = await client.call('GET', `${path}?${query.toString()}`, { signal });
        const { status, body, retryAfterMs } = answer;
        if (status === 400 && namesOneOf(Object.keys(fields), body)) {
          // Another search may have advanced it meanwhile.
          fieldSet = Math.max(fieldSet, tried + 1);
          continue;
        }
        const problem = problemOf(body);
        if (status === 400) return { kind: 'refused', words: wordsOf(problem) };
        const page = pageSchema.safeParse(inStreamNames(body));
        if (status !== 200 || !page.success) {
          const credential = status === 401 || status === 402 || status === 403;
          throw new UpstreamUnavailable(`X answered ${status} to a search${wordsAfterColon(problem)}`, {
            retryAfterMs: retryAfterMs ?? (credential ? credentialRetryMs : null),
          });
        }
        return toPage(page.data, search.rule);
      }
    },
  };
}

function namesOneOf(parameters: readonly string[], body: unknown): boolean {
  const text = JSON.stringify(body) ?? '';
  return parameters.some((name) => text.includes(name));
}

/** Search has fewer operators than the stream, accepts shorter queries, and finds less. */
function fidelityOf(value: string, lengthMax: number): SearchFidelity {
  const verdict = searchability(value, lengthMax);
  if (!verdict.searchable) {
    const because =
      verdict.operator === null ? 'value_too_long_to_search' : `no_search_for_${verdict.operator}`;
    return { searchable: false, because };
  }
  const ofWords = verdict.hasWords ? ['retweets_missing', 'quoted_text_not_searched', 'accents_ignored'] : [];
  return { searchable: true, fidelity: [...ofWords, 'deleted_posts_missing'] };
}

function parametersOf({ value, from, to, size, token }: SearchQuery): Record<string, string> {
  return {
    query: value,
    ...wholeSeconds(from, to),
    max_results: String(size),
    ...(token !== null && { next_token: token }),
  };
}

function toPage(
  { data, includes, meta }: z.output<typeof pageSchema>,
  rule: SearchQuery['rule'],
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

/** A page has the includes of all its posts; a stream record only its own. */
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

/** All values by which the post refers to other objects. */
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
