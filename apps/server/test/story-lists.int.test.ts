import type { AnswerOf, RequestOf } from '@earshot/contract';
import { eventually, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ackMatches } from '../src/readers/ack-matches.ts';
import { readMatches } from '../src/readers/read-matches.ts';
import { streamMatches } from '../src/readers/stream-matches.ts';
import { removeItems } from '../src/removals/remove-items.ts';
import { callOf } from './call-of.ts';
import { openStoryWorld, type StoryPost, type StoryWorld, storyEvent, textsOf } from './story-world.ts';
import { xEvent } from './stream-events.ts';
import { createMigratedTemplate } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const link = (name: string) => `https://example.com/${name}`;
const about = (name: string, ...numbers: number[]): StoryPost[] =>
  numbers.map((n) => ({ n, link: link(name) }));

type Request = Partial<RequestOf<'ListMatches'>>;

/** All pages of a list, and how many matches were left out. */
async function readAll(
  world: StoryWorld,
  request: Request,
  between: (page: number) => Promise<unknown> = async () => null,
) {
  const posts: number[] = [];
  let inStory = 0;
  let cursor: string | undefined;
  for (let page = 0; page < 100; page++) {
    const answer: AnswerOf<'ListMatches'> = await world.list({
      group: 'story',
      limit: 3,
      ...request,
      ...(cursor && { cursor }),
    });
    expect(answer.matches.length).toBeLessThanOrEqual(request.limit ?? 3);
    posts.push(...textsOf(answer));
    inStory += answer.hidden?.in_story ?? 0;
    cursor = answer.next_cursor ?? undefined;
    if (!cursor || (request.order === 'oldest' && answer.matches.length === 0)) break;
    await between(page);
  }
  return { posts, inStory };
}

describe('a list of stories', () => {
  test('with the newest first has the newest match of each, with its size and members', async () => {
    await using world = await openStoryWorld(template);
    await world.write(about('a', 1, 2), [{ n: 3 }], about('b', 4), about('a', 5));
    const answer = await world.list({ group: 'story' });
    expect(textsOf(answer)).toEqual([5, 4, 3]);
    expect(answer.hidden).toEqual({ muted: 0, not_relevant: 0, in_story: 2 });
    const [grown, , alone] = answer.matches;
    const all = (await world.list()).matches;
    expect(grown?.story).toEqual({
      id: `story_${all.at(-1)?.id.slice(4)}`,
      matches: 3,
      platforms: { x: 3 },
      first_at: all.at(-1)?.created_at,
      last_at: all[0]?.created_at,
      because: 'same_url',
      members: [0, 3, 4].map((index) => ({
        match_id: all[index]?.id,
        rule_id: 'rule_1',
        platform: 'x',
        because: index === 4 ? 'first' : 'same_url',
        created_at: all[index]?.created_at,
      })),
    });
    expect(alone?.story).toMatchObject({ matches: 1, because: 'first', members: [{ match_id: alone?.id }] });
    expect(all.every(({ story }) => story === undefined)).toBe(true);
  });

  test('has each story once, however it is paged, also while stories grow and begin', async () => {
    await using world = await openStoryWorld(template);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const nameOf = (n: number) => names[(n * n) % 4] ?? '';
    const numbers = Array.from({ length: 40 }, (_, n) => n);
    await world.write(numbers.flatMap((n) => about(nameOf(n), n)));
    const newest = [...new Map(numbers.map((n) => [nameOf(n), n])).values()].toSorted(
      (one, other) => other - one,
    );
    let next = 100;
    for (const limit of [1, 3, 50]) {
      // A list ends where it began, so what is added while it is read is not in it.
      const expected = limit === 1 ? newest : (await readAll(world, { limit: 200 })).posts;
      const read = await readAll(world, { limit }, () =>
        world.write(about(names[next % 4] ?? '', next++), [{ n: next++ }]),
      );
      expect(read.posts).toEqual(expected);
    }
  });

  test('counts within its filter and period', async () => {
    await using world = await openStoryWorld(template);
    await world.write([
      { n: 1, link: link('a'), rules: ['rule_1', 'rule_2'] },
      { n: 2, link: link('a'), rules: ['rule_2'] },
      { n: 3, link: link('a') },
    ]);
    await world.write([{ n: 4, link: link('a'), rules: ['rule_2'] }]);
    const first = async (request: Request) => {
      const { matches } = await world.list({ group: 'story', ...request });
      return matches.map(({ payload, story }) => `${payload.text}: ${story?.matches}`);
    };
    expect(await first({})).toEqual(['short 4: 5']);
    expect(await first({ rule_id: 'rule_1' })).toEqual(['short 3: 2']);
    expect(await first({ rule_id: 'rule_1', order: 'oldest' })).toEqual(['short 1: 2']);
    expect(await first({ platform: 'firehose' })).toEqual([]);
    const last = (await world.list()).matches[0]?.created_at ?? '';
    expect(await first({ to: last })).toEqual(['short 3: 4']);
    expect(await first({ from: last, order: 'oldest' })).toEqual(['short 4: 1']);
  });

  test('in the order of the log has the first match of each, and the 10th and 100th', async () => {
    await using world = await openStoryWorld(template);
    const numbers = Array.from({ length: 120 }, (_, n) => n + 1);
    await world.write(about('a', ...numbers), [{ n: 200 }, ...about('b', 201)]);
    expect(await readAll(world, { order: 'oldest', limit: 50 })).toEqual({
      posts: [1, 10, 100, 200, 201],
      inStory: 117,
    });
    expect(await readAll(world, { order: 'oldest', limit: 1 })).toEqual({
      posts: [1, 10, 100, 200, 201],
      inStory: 117,
    });
    const { next_cursor: cursor } = await world.list({ group: 'story', order: 'oldest', limit: 200 });
    await world.write(about('a', 121), about('b', 202), about('c', 203));
    const more = await world.list({
      group: 'story',
      order: 'oldest',
      cursor: cursor ?? '',
      wait_seconds: 30,
    });
    expect(textsOf(more)).toEqual([203]);
    expect(more.hidden?.in_story).toBe(2);
  });

  test('shows another match of a story whose newest or first one is muted or removed', async () => {
    await using world = await openStoryWorld(template);
    await world.write([
      { n: 1, link: link('a'), author: 'spammer' },
      { n: 2, link: link('a') },
      { n: 3, link: link('a') },
      { n: 4, link: link('a'), author: 'spammer' },
    ]);
    await world.database.run(
      `insert into mutes (id, account_id, field, value) values ('mut_1', 'acc_1', 'author', 'spammer')`,
    );
    world.views.forget('acc_1');
    for (const limit of [1, 50]) {
      expect(await readAll(world, { limit })).toEqual({ posts: [3], inStory: 1 });
      expect(await readAll(world, { order: 'oldest', limit })).toEqual({ posts: [2], inStory: 1 });
    }
    const { hidden } = await world.list({ group: 'story' });
    expect(hidden).toEqual({ muted: 2, not_relevant: 0, in_story: 1 });
    const items = [{ platform: 'x', eventKey: xEvent(3).key } as const];
    await removeItems(world.database, storyEvent({ n: 3 }).day, { items, reason: 'deleted' });
    expect(textsOf(await world.list({ group: 'story' }))).toEqual([2]);
  });

  test('has merged stories once, and both ids list all matches with their reasons', async () => {
    await using world = await openStoryWorld(template);
    await world.write(about('a', 1, 2), about('b', 3, 4));
    const before = await world.list({ group: 'story' });
    const [second, first] = before.matches.map(({ story }) => story?.id ?? '');
    await world.write([{ n: 5, quotes: 1, link: link('b') }]);
    const [match] = (await world.list({ group: 'story' })).matches;
    expect(match?.story).toMatchObject({ id: first, matches: 5, because: 'quote' });
    for (const storyId of [first, second]) {
      const answer = await world.list({ story_id: storyId ?? '', order: 'oldest' });
      expect(textsOf(answer)).toEqual([1, 2, 3, 4, 5]);
      expect(answer.matches.map(({ story }) => story?.because)).toEqual([
        'first',
        'same_url',
        'merged',
        'same_url',
        'quote',
      ]);
    }
  });

  test('has no more matches than requested, and continues behind the last of them', async () => {
    await using world = await openStoryWorld(template);
    await world.write([{ n: 1 }, { n: 2 }, { n: 3 }, ...about('a', 4, 5, 6)]);
    const page = await world.list({ group: 'story', limit: 3 });
    expect(textsOf(page)).toEqual([6, 3, 2]);
    expect(page.hidden).toMatchObject({ in_story: 2 });
    const rest = await world.list({ group: 'story', limit: 3, cursor: page.next_cursor ?? '' });
    expect(textsOf(rest)).toEqual([1]);
    expect(rest.hidden).toBeUndefined();
  });

  test('follows a story that merges twice', async () => {
    await using world = await openStoryWorld(template);
    await world.write(about('a', 1, 2), about('b', 3, 4), about('c', 5, 6));
    const { matches } = await world.list({ group: 'story' });
    await world.write(
      [{ n: 7, quotes: 3, link: link('c') }],
      [{ n: 8, quotes: 1, link: link('b') }],
      about('c', 9),
    );
    const all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(matches).toHaveLength(3);
    for (const { story } of matches)
      expect(textsOf(await world.list({ story_id: story?.id ?? '', order: 'oldest' }))).toEqual(all);
    expect(textsOf(await world.list({ group: 'story' }))).toEqual([9]);
  });

  test('of one story can be paged, also if it is a single match', async () => {
    await using world = await openStoryWorld(template);
    await world.write(about('a', 1, 2, 3, 4, 5), [{ n: 6 }]);
    const { matches } = await world.list({ group: 'story' });
    const [alone, grown] = matches.map(({ story }) => story?.id ?? '');
    const pages: number[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer: AnswerOf<'ListMatches'> = await world.list({
        story_id: grown ?? '',
        limit: 2,
        ...(cursor && { cursor }),
      });
      pages.push(textsOf(answer));
      cursor = answer.next_cursor;
    }
    expect(pages).toEqual([[5, 4], [3, 2], [1]]);
    expect(textsOf(await world.list({ story_id: alone ?? '' }))).toEqual([6]);
    expect(textsOf(await world.list({ story_id: alone ?? '', rule_id: 'rule_2' }))).toEqual([]);
    const other = await world.list({ story_id: grown ?? '', limit: 1 });
    await expect(
      world.list({ story_id: alone ?? '', cursor: other.next_cursor ?? '' }),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
    // A match that is not the first is no story.
    await expect(
      world.list({ story_id: `story_${(await world.list()).matches[1]?.id.slice(4)}` }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a named reader gets stories that began before it, once, and keeps its range', async () => {
  await using world = await openStoryWorld(template);
  const { database, cursors, following, reader, rules, coverage, views } = world;
  const unused = null as never;
  const read = readMatches({
    database,
    cursors,
    following,
    reader,
    rules,
    coverage,
    views,
    contact: '',
    notices: unused,
    followingNotices: unused,
  });
  const ack = ackMatches({ database, cursors });
  const next = async () => {
    const request = { reader: 'r', of: 'matches', start: 'now', limit: 50, group: 'story' } as const;
    const { matches, hidden, cursor } = await read(callOf('ReadMatches', request));
    if (cursor !== null) await ack(callOf('AckMatches', { reader: 'r', cursor, rewind: false }));
    return [textsOf({ matches }), hidden?.in_story ?? 0];
  };
  await world.write(about('a', 1, 2));
  expect(await next()).toEqual([[], 0]);
  await world.write(about('a', 3, 4), about('b', 5));
  expect(await next()).toEqual([[3, 5], 1]);
  await world.write(about('a', 6, 7, 8, 9), about('b', 10));
  expect(await next()).toEqual([[], 5]);
  await world.write(about('a', 11, 12, 13, 14, 15));
  expect(await next()).toEqual([[14], 4]);
  await expect(
    read(callOf('ReadMatches', { reader: 'r', of: 'matches', start: 'now', limit: 50 })),
  ).resolves.toMatchObject({ matches: [] });
});

test('a stream lists stories that grow, and continues in its range after an interruption', async () => {
  await using world = await openStoryWorld(template);
  const stream = streamMatches({ ...world, countStream: () => ({ [Symbol.dispose]: () => undefined }) });
  const open = (cursor?: string) =>
    stream({ ...callOf('StreamMatches', { group: 'story', ...(cursor && { cursor }) }), lastEventId: null });
  const { signal } = new AbortController();
  const texts: Array<number | string> = [];
  let last = '';
  const take = async (opened: Awaited<ReturnType<typeof open>>, until: number) => {
    await eventually(
      async () => {
        for (const { id, event, data } of (await opened.take(signal)).events) {
          last = id ?? last;
          if (event === 'match') texts.push(Number(JSON.parse(data).payload.text.split(' ')[1]));
          else texts.push(`${event} ${JSON.parse(data).in_story ?? ''}`.trim());
        }
        expect(texts.length).toBeGreaterThanOrEqual(until);
      },
      { timeoutMs: 30_000 },
    );
  };
  await world.write(about('a', 1));
  {
    using opened = await open();
    await take(opened, 1);
    await world.write([...about('a', 2, 3), ...about('b', 4)]);
    await take(opened, 4);
  }
  expect(texts).toEqual(['open', 2, 4, 'hidden 1']);
  await world.write(about('a', 5, 6, 7, 8, 9, 10, 11, 12, 13));
  using again = await open(last);
  await take(again, 7);
  expect(texts.slice(4)).toEqual(['open', 12, 'hidden 8']);
});
