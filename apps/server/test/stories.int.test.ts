import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeSome } from '../src/matching/purge-deleted-rules.ts';
import { removeExpiredDays } from '../src/matching/retention.ts';
import { deleteAccount } from '../src/removals/delete-account.ts';
import { removeItems } from '../src/removals/remove-items.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { changeBy } from './changes.ts';
import { openStoryWorld, type StoryPost, storyEvent, storyMatches } from './story-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const link = (name: string) => `https://example.com/${name}`;

/** Three stories, of which two merge, beside posts that are alone. */
const posts: readonly StoryPost[] = [
  { n: 1, link: link('a') },
  { n: 2 },
  { n: 3, quotes: 1 },
  { n: 4, link: link('b'), rules: ['rule_1', 'rule_2'] },
  { n: 5, link: link('c'), rules: ['rule_1', 'other_1'] },
  { n: 6, quotes: 4, rules: ['rule_2', 'other_1'] },
  { n: 7, link: link('c'), rules: ['rule_1', 'other_1'] },
  { n: 8 },
  { n: 9, quotes: 3, link: link('b') },
];
const expected = ['acc_1: 1, 3, 4, 4 rule_2, 6 rule_2, 9', 'acc_1: 5, 7', 'acc_2: 5, 7'];

describe('stories', () => {
  test('are the same when events are delivered again, in other batches, and replayed into another database', async () => {
    await using world = await openStoryWorld(template);
    await world.write(posts.slice(0, 4), posts.slice(4));
    expect(await world.stories()).toEqual(expected);
    const members = () =>
      world.database.many('select position, story_id, because from story_members order by position');
    const keys = () => world.database.many('select key, story_id from story_keys order by key');
    const before = [await members(), await keys()];
    await world.write(posts, posts.toReversed(), posts.slice(3, 6));
    expect([await members(), await keys()]).toEqual(before);
    await using replayed = await openStoryWorld(template);
    await replayed.write(...posts.map((post) => [post]));
    expect(await replayed.stories()).toEqual(expected);
    await using whole = await openStoryWorld(template);
    await whole.write(posts);
    expect(await whole.stories()).toEqual(expected);
  });

  test('are the same for concurrent workers as for one that stores in the order of the log', async () => {
    await using world = await openStoryWorld(template);
    const many = Array.from(
      { length: 120 },
      (_, n): StoryPost => ({
        n,
        link: link(`page${n % 17}`),
        ...(n % 5 === 0 && n > 20 && { quotes: n - 20 }),
      }),
    );
    const batches = Array.from({ length: 24 }, (_, n) => many.slice(5 * n, 5 * n + 5));
    await Promise.all(
      [0, 1].map(async (worker) => {
        // Both get some of the batches, as after a redelivery.
        for (const [n, batch] of batches.entries()) if (n % 3 !== worker) await world.write(batch);
      }),
    );
    const order = await world.database.many<{ event_key: string }>(
      'select event_key from matches order by position',
    );
    expect(order).toHaveLength(120);
    await using replayed = await openStoryWorld(template);
    const byKey = new Map(many.map((post) => [storyEvent(post).key, post]));
    await replayed.write(order.flatMap(({ event_key }) => byKey.get(event_key) ?? []));
    expect(await world.stories()).toEqual(await replayed.stories());
    expect(await world.stories()).not.toEqual([]);
  });

  test('have members only if a second match joins, and say why each did', async () => {
    await using world = await openStoryWorld(template);
    await world.write(posts.slice(0, 2));
    expect(await world.database.many('select 1 from stories union all select 1 from story_members')).toEqual(
      [],
    );
    await world.write(posts.slice(2));
    const reasons = await world.database.many<{ because: string }>(
      `select event_key::bigint - $1::bigint as post, members.rule_id, because from story_members members
       join matches using (position) where members.account_id = 'acc_1' order by position`,
      [xEvent(0).key],
    );
    expect(reasons).toMatchObject([
      { post: 1, because: 'first' },
      { post: 3, because: 'quote' },
      { post: 4, rule_id: 'rule_1', because: 'first' },
      { post: 4, rule_id: 'rule_2', because: 'same_page' },
      { post: 5, because: 'first' },
      { post: 6, because: 'quote' },
      { post: 7, because: 'same_url' },
      { post: 9, because: 'quote' },
    ]);
  });

  test('hold no text of an item', async () => {
    await using world = await openStoryWorld(template);
    await world.write([
      { n: 1, link: link('secret-page') },
      { n: 2, link: link('secret-page') },
    ]);
    const [row] = await world.database.many<{ text: string }>(
      `select (select string_agg(story_keys::text, '') from story_keys) || (select string_agg(stories::text, '') from stories)
         || (select string_agg(story_members::text, '') from story_members) as text`,
    );
    expect(row?.text).toMatch(/acc_1/);
    expect(row?.text).not.toMatch(/secret|example|short/);
  });
});

describe('what is removed leaves its story', () => {
  test('an item that its platform deleted, for every account', async () => {
    await using world = await openStoryWorld(template);
    await world.write(posts);
    const items = [{ platform: 'x', eventKey: xEvent(7).key } as const];
    await removeItems(world.database, storyEvent({ n: 7 }).day, { items, reason: 'deleted' });
    expect(await world.stories()).toEqual(['acc_1: 1, 3, 4, 4 rule_2, 6 rule_2, 9', 'acc_1: 5', 'acc_2: 5']);
    expect(await world.database.many('select count(*) from story_members')).toMatchObject([{ count: 8 }]);
    // The link is still known.
    await world.write([{ n: 10, link: link('c') }]);
    expect(await world.stories()).toContain('acc_1: 5, 10');
  });

  test('a first match that is removed before its story gets a second one', async () => {
    await using world = await openStoryWorld(template);
    await world.write([{ n: 1, link: link('a') }]);
    const items = [{ platform: 'x', eventKey: xEvent(1).key } as const];
    await removeItems(world.database, storyEvent({ n: 1 }).day, { items, reason: 'deleted' });
    await world.write([{ n: 2, link: link('a') }]);
    expect(await world.stories()).toEqual(['acc_1: 2']);
    const { matches } = await world.list({ group: 'story' });
    expect(matches).toMatchObject([{ story: { matches: 1, because: 'same_url' } }]);
  });

  test('the matches of a deleted rule', async () => {
    await using world = await openStoryWorld(template);
    await world.write(posts);
    await createRuleStore(world.database).delete(changeBy('acc_1'), 'rule_2');
    const seen = async () =>
      (await world.list({ group: 'story' })).matches.map(({ story }) => story?.matches);
    expect(await seen()).toEqual([4, 1, 2, 1]);
    while ((await purgeSome(world.database)) > 0);
    expect(await world.database.many(`select 1 from story_members where rule_id = 'rule_2'`)).toEqual([]);
    expect(await world.stories()).toEqual(['acc_1: 1, 3, 4, 9', 'acc_1: 5, 7', 'acc_2: 5, 7']);
    expect(await seen()).toEqual([4, 1, 2, 1]);
  });

  test('days past retention, and keys past their window', async () => {
    await using world = await openStoryWorld(template);
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    await world.write(
      [
        { n: 1, link: link('old'), day: daysAgo(20) },
        { n: 2, link: link('old'), day: daysAgo(20) },
      ],
      [
        { n: 3, link: link('week'), day: daysAgo(8) },
        { n: 4, link: link('week'), day: daysAgo(8) },
      ],
      [
        { n: 5, link: link('long'), day: daysAgo(6) },
        { n: 6, link: link('long'), day: daysAgo(3) },
      ],
      [{ n: 7, link: link('new') }],
    );
    const storiesOfKeys = () =>
      world.database.many<{ post: number }>(
        `select distinct event_key::bigint - $1::bigint as post from story_keys join matches on position = story_id order by 1`,
        [xEvent(0).key],
      );
    const telemetry = { dayRemoved: () => undefined };
    await removeExpiredDays({ database: world.database, retentionDays: 10, telemetry });
    expect(await world.stories()).toEqual(['acc_1: 3, 4', 'acc_1: 5, 6']);
    expect(await world.database.many('select count(*) from story_members')).toMatchObject([{ count: 4 }]);
    expect(await world.database.many('select count(*) from stories')).toMatchObject([{ count: 2 }]);
    // A key that is six days old is of a story that is three days old.
    expect((await storiesOfKeys()).map(({ post }) => post)).toEqual([5, 7]);
    await world.write([{ n: 8, link: link('long'), day: daysAgo(1) }]);
    expect(await world.stories()).toContain('acc_1: 5, 6, 8');
  });

  test('everything of a deleted account, and nothing of another', async () => {
    await using world = await openStoryWorld(template);
    await world.write(posts);
    await world.database.run('update sources set enabled = false');
    await deleteAccount(world.database, 'acc_1', { settleMs: 0, lookMs: 10 });
    for (const table of ['stories', 'story_keys', 'story_members']) {
      const rows = await world.database.many(`select distinct account_id from ${table}`);
      expect([table, rows]).toEqual([table, [{ account_id: 'acc_2' }]]);
    }
  });
});

describe('accounts', () => {
  test('never share a story, also where their items are the same', async () => {
    await using world = await openStoryWorld(template);
    const rules = ['rule_1', 'other_1'];
    await world.write(
      [{ n: 1, link: link('a'), rules: ['rule_1'] }],
      [{ n: 2, link: link('a'), rules: ['other_1'] }],
    );
    expect(await world.stories()).toEqual([]);
    await world.write([{ n: 3, link: link('a'), rules }]);
    expect(await world.stories()).toEqual(['acc_1: 1, 3', 'acc_2: 2, 3']);
    const [mine] = (await world.list({ group: 'story' })).matches;
    const [theirs] = (await world.list({ group: 'story' }, 'acc_2')).matches;
    expect(mine?.story?.matches).toBe(2);
    expect(theirs?.story?.matches).toBe(2);
    expect(mine?.story?.id).not.toBe(theirs?.story?.id);
    const failureOf = (storyId: string) =>
      world.list({ story_id: storyId }).then(
        () => null,
        (error: unknown) => JSON.stringify(error),
      );
    const unknown = await failureOf('story_zzzzzzzzzzzz');
    expect(unknown).not.toBeNull();
    expect(await failureOf(theirs?.story?.id ?? '')).toBe(unknown);
    expect(await failureOf('rule_1')).toBe(unknown);
    expect(await failureOf(mine?.story?.id ?? '')).toBeNull();
  });
});

test('matches of one event in two transactions are in the same story', async () => {
  await using world = await openStoryWorld(template);
  const post: StoryPost = { n: 1, rules: ['rule_1', 'rule_2', 'rule_3'] };
  const [one, ...others] = storyMatches(post);
  await world.store.write([storyEvent(post)], one ? [one] : [], [], []);
  await world.store.write([storyEvent(post)], others, [], []);
  expect(await world.stories()).toEqual(['acc_1: 1, 1 rule_2, 1 rule_3']);
});
