import { describe, expect, test, vi } from 'vitest';
import { createPageWriter } from '../src/feed/pages.ts';
import { createPostWriter } from '../src/feed/posts.ts';
import { buildPage } from '../src/firehose/page.ts';
import { startSandbox } from '../src/index.ts';
import { createRandom } from '../src/random.ts';
import { buildPost } from '../src/x/post.ts';
import { at, createClient } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

describe('the feed', () => {
  const write = (seed: number, count: number) => {
    const random = createRandom(seed);
    let lastId = 1_000;
    const writePost = createPostWriter(random, () => String((lastId += 1)));
    const writePage = createPageWriter(random);
    return {
      posts: Array.from({ length: count }, writePost),
      pages: Array.from({ length: count }, () => writePage(Date.parse('2026-01-01T00:00:00Z'))),
    };
  };

  test('depends only on the seed', () => {
    expect(write(7, 50)).toEqual(write(7, 50));
    expect(write(7, 50)).not.toEqual(write(8, 50));
  });

  test('fills every placeholder and makes posts and pages that the sandbox accepts', () => {
    const { posts, pages } = write(7, 500);
    expect(JSON.stringify([posts, pages])).not.toMatch(/\{[a-z]+\}/);
    const deps = { nowMs: () => 0, nextId: () => '1' };
    expect(posts.filter((post) => typeof buildPost(post, deps) === 'string')).toEqual([]);
    expect(pages.filter((page) => typeof buildPage(page, 0) === 'string')).toEqual([]);
  });

  test('has several languages, topics, tags, links, retweets, replies and quotes', () => {
    const all = JSON.stringify(write(7, 300).posts);
    const traits = [
      '"lang":"de"',
      '"lang":"ja"',
      '#',
      '$',
      'https://',
      'retweeted',
      'replied_to',
      'quoted',
      'photo',
    ];
    for (const trait of [...traits, 'rocket', 'outage', 'chip', 'launch', 'football'])
      expect(all).toContain(trait);
  });
});

test('the rates of the feed can be changed and set to 0 while it runs', async () => {
  await using sandbox = await startSandbox();
  const client = createClient(sandbox);
  await client.addXRules('rocket OR outage OR chip OR football OR launch');
  await client.addTapRule('language:"en"');
  const stream = await client.openX();
  const tap = await client.openTap();
  await client.control('POST', '/feed', { posts_per_second: 200 });
  expect(at(await stream.record(), 'data', 'text')).toEqual(expect.any(String));
  expect((await client.control('POST', '/feed', { pages_per_second: 50 })).body).toMatchObject({
    posts_per_second: 200,
    pages_per_second: 50,
  });
  expect((await tap.frame())?.event).toBe('connected');
  expect((await tap.frame())?.event).toBe('update');

  await client.control('POST', '/feed', { posts_per_second: 0, pages_per_second: 0 });
  const matched = async () => at((await client.control('GET', '/x/state')).body, 'counters', 'matched');
  const count = await matched();
  // Three ticks of the feed: at the old rate dozens of posts.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await matched()).toBe(count);
});
