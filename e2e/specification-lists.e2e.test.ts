import type { AnswerOf, Match, Rule } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

type RulesPage = AnswerOf<'ListRules'>;
type MatchesPage = AnswerOf<'ListMatches'>;

describe('GET /api.ListRules', () => {
  let api: Api;
  /** In the order of creation. */
  const names = ['one', 'two', 'three', 'four', 'five'];

  beforeAll(async () => {
    api = server.api(await world.newAccount());
    for (const name of names) await api.createRule({ name, x: 'comet' });
  });

  const page = async (query: string): Promise<RulesPage> => {
    const { status, json } = await api.call('GET', `/api.ListRules?${query}`);
    expect(status).toBe(200);
    return json as RulesPage;
  };
  const namesOf = (rules: readonly Rule[]) => rules.map(({ name }) => name);

  test('without parameters the list is complete and newest first', async () => {
    const { rules, next_cursor } = await api.listRules();
    expect(namesOf(rules)).toEqual(names.toReversed());
    expect(next_cursor).toBeNull();
  });

  test.each([1, 2, 5, 1_000])('pages of %i visit every rule once, in the same order', async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { rules, next_cursor } = await page(`limit=${limit}${after}`);
      expect(rules.length).toBeLessThanOrEqual(limit);
      seen.push(...namesOf(rules));
      cursor = next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(names.toReversed());
  });

  test('a rule created between two pages does not disturb the rest of the list', async () => {
    const first = await page('limit=2');
    const late = await api.createRule({ name: 'late', x: 'comet' });
    const rest = await page(`cursor=${first.next_cursor}`);
    await api.deleteRule(late.rule_id);
    expect(namesOf([...first.rules, ...rest.rules])).toEqual(names.toReversed());
  });

  test('an account without rules has an empty list', async () => {
    const empty = server.api(await world.newAccount());
    expect(await empty.listRules()).toEqual({ rules: [], next_cursor: null });
  });
});

describe('POST /matches', () => {
  let api: Api;
  let storms: string;
  let stormPages: string;
  /** What the log must contain, oldest first: 40 posts, then 20 pages. */
  let all: Match[];

  beforeAll(async () => {
    api = server.api(await world.newAccount());
    storms = (await api.createRule({ x: 'storm' })).rule_id;
    stormPages = (await api.createRule({ firehose: 'title:storm' })).rule_id;
    await world.sandbox.posts(Array.from({ length: 40 }, (_, i) => `storm number ${i}`));
    await matchesAre(40);
    await world.sandbox.pages(
      Array.from({ length: 20 }, (_, i) => ({ url: `https://a.example/${i}`, title: 'Storm', text: `${i}` })),
    );
    all = await matchesAre(60);
  });

  const matchesAre = (count: number) =>
    eventually(
      async () => {
        const found = await api.allMatches();
        expect(found).toHaveLength(count);
        return found;
      },
      { timeoutMs: 20_000 },
    );
  const idsOf = (matches: readonly Match[]) => matches.map(({ id }) => id);
  const walk = async (request: object): Promise<Match[]> => {
    const seen: Match[] = [];
    let cursor: string | null = null;
    for (;;) {
      const answer: MatchesPage = await api.matches({ ...request, ...(cursor && { cursor }) });
      seen.push(...answer.matches);
      cursor = answer.next_cursor;
      if (cursor === null || answer.matches.length === 0) return seen;
    }
  };

  test.each([1, 7, 20, 60, 100])('pages of %i visit each match once, in both directions', async (limit) => {
    const oldestFirst = await walk({ order: 'oldest', limit });
    const newestFirst = await walk({ order: 'newest', limit });
    expect(new Set(idsOf(oldestFirst)).size).toBe(60);
    expect(idsOf(oldestFirst)).toEqual(idsOf(all));
    expect(idsOf(newestFirst)).toEqual(idsOf(all).toReversed());
  });

  test('newest first and 50 per page are the defaults', async () => {
    expect(idsOf((await api.matches({})).matches)).toEqual(idsOf(all).toReversed().slice(0, 50));
  });

  test('a filter by rule or by platform lists exactly its matches', async () => {
    const posts = all.filter(({ platform }) => platform === 'x');
    const pages = all.filter(({ platform }) => platform === 'firehose');
    expect([posts.length, pages.length]).toEqual([40, 20]);
    expect(await walk({ platform: 'x', order: 'oldest', limit: 9 })).toEqual(posts);
    expect(await walk({ platform: 'firehose', order: 'oldest', limit: 9 })).toEqual(pages);
    expect(await walk({ rule_id: storms, order: 'oldest', limit: 9 })).toEqual(posts);
    expect(await walk({ rule_id: stormPages, order: 'oldest', limit: 9 })).toEqual(pages);
    expect(await walk({ rule_id: storms, platform: 'firehose' })).toEqual([]);
  });

  test('since is inclusive and until is exclusive: together they miss nothing and double nothing', async () => {
    const boundary = all[40]?.created_at ?? '';
    const before = await walk({ order: 'oldest', until: boundary, limit: 9 });
    const after = await walk({ order: 'oldest', since: boundary, limit: 9 });
    expect(before.every(({ created_at }) => created_at < boundary)).toBe(true);
    expect(after[0]?.created_at).toBe(boundary);
    expect([before.length, after.length]).toEqual([40, 20]);
    expect([...before, ...after]).toEqual(all);
    expect(await walk({ since: '2001-01-01T01:00:00+01:00', until: '2001-01-01T01:00:00Z' })).toEqual([]);
  });

  test('next_cursor is null at the end of "newest" and never null with "oldest"', async () => {
    expect((await api.matches({ order: 'newest', limit: 100 })).next_cursor).toBeNull();
    expect((await api.matches({ order: 'newest', limit: 10 })).next_cursor).toBeTypeOf('string');
    expect((await api.matches({ order: 'oldest', limit: 100 })).next_cursor).toBeTypeOf('string');
    const empty = server.api(await world.newAccount());
    expect(await empty.matches({ order: 'newest' })).toEqual({
      matches: [],
      next_cursor: null,
      coverage: null,
    });
    expect((await empty.matches({ order: 'oldest' })).next_cursor).toBeTypeOf('string');
  });

  test('coverage is told for a rule or a platform, and is null otherwise', async () => {
    expect((await api.matches({ rule_id: storms })).coverage).toMatchObject({ gaps: [] });
    expect((await api.matches({ platform: 'x' })).coverage?.complete_through).toBeTypeOf('string');
    expect((await api.matches()).coverage).toBeNull();
  });

  test('a follower with wait_seconds is answered as soon as a match arrives, and misses none', async () => {
    const { next_cursor } = await api.matches({ order: 'oldest', limit: 100 });
    const startedAt = performance.now();
    const answer = api.matches({ order: 'oldest', cursor: next_cursor, wait_seconds: 20 });
    await world.sandbox.posts(['one more storm']);
    const { matches, next_cursor: next } = await answer;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(matches.map(({ payload }) => payload.text)).toEqual(['one more storm']);
    expect((await api.matches({ order: 'oldest', cursor: next })).matches).toEqual([]);
  });

  test('wait_seconds ends after its time when nothing arrives that the filter lets through', async () => {
    const filter = { order: 'oldest', platform: 'firehose' };
    const { next_cursor } = await api.matches({ ...filter, limit: 100 });
    const startedAt = performance.now();
    const answer = api.matches({ ...filter, cursor: next_cursor, wait_seconds: 2 });
    await world.sandbox.posts(['a storm on the other platform']);
    const { matches, next_cursor: next } = await answer;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_990);
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    expect(matches).toEqual([]);
    await matchesAre(62);
    await world.sandbox.pages([{ url: 'https://a.example/late', title: 'Storm', text: 'late' }]);
    const late = await api.matches({ ...filter, cursor: next, wait_seconds: 20 });
    expect(late.matches.map(({ platform_post_id }) => platform_post_id)).toEqual(['https://a.example/late']);
  });
});
