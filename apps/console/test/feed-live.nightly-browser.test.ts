import { readFile } from 'node:fs/promises';
import { eventually } from '@earshot/testkit';
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Console, startConsole } from './console-page.ts';
import { createLanternRule, feedOf, listedTexts, longLeases, patience } from './feed-page.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole(longLeases);
  await createLanternRule(running);
}, 600_000);
afterAll(() => running?.[Symbol.asyncDispose]());

let opened: Page | undefined;
afterEach(() => opened?.context().close());

const post = (...texts: string[]) => running.world.sandbox.posts(texts);
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `lantern ${name} ${index}`);

async function openLive() {
  const { page, problems } = await running.open();
  opened = page;
  const feed = feedOf(page);
  await feed.status('Live');
  return { page, feed, problems };
}

/** Publishes posts and waits until the API lists their matches. */
async function postAndList(...texts: string[]) {
  const posts = await post(...texts);
  await eventually(async () => {
    expect(await listedTexts(running.server, running)).toEqual(expect.arrayContaining(texts));
  }, patience);
  return posts;
}

test('new matches appear at the top automatically, each once', async () => {
  const { feed, problems } = await openLive();
  await post('lantern at noon');
  await feed.row('lantern at noon').waitFor();
  await post('lantern at night');
  await feed.row('lantern at night').waitFor();
  const listed = await listedTexts(running.server, running);
  expect(listed).toHaveLength(2);
  expect(await feed.readAll(2)).toEqual(listed);
  expect(problems).toEqual([]);
});

describe('while the user reads, the list does not move and no match is lost', () => {
  test('with an open match', async () => {
    await postAndList('lantern to be read');
    const { page, feed } = await openLive();
    await feed.row('lantern to be read').click();
    await feed.status('Paused while you read');
    await postAndList(...numbered('beside', 12));
    await page.getByRole('button', { name: '+12 new' }).waitFor();
    expect(await feed.row('beside').count()).toBe(0);
    await page.getByRole('button', { name: '+12 new' }).click();
    await feed.status('Live');
    await expectAll(feed);
  });

  test('scrolled down from the top', async () => {
    await postAndList(...numbered('to scroll over', 30));
    const { page, feed } = await openLive();
    await feed.rows.first().hover();
    await page.mouse.wheel(0, 900);
    await feed.status('Paused while you read');
    const first = await feed.rows.first().innerText();
    await postAndList(...numbered('while away', 3));
    await page.getByRole('button', { name: '+3 new' }).waitFor();
    expect(await feed.rows.first().innerText()).toBe(first);
    await page.mouse.wheel(0, -5_000);
    await feed.row('while away 2').waitFor();
    await feed.status('Live');
    await expectAll(feed);
  });
});

async function expectAll(feed: ReturnType<typeof feedOf>) {
  const listed = await listedTexts(running.server, running);
  expect(await feed.readAll(listed.length)).toEqual(listed);
}

test('a hidden tab has no stream, and continues from its cursor when it is visible again', async () => {
  const { page, feed } = await openLive();
  const streams: Request[] = [];
  const ended: Request[] = [];
  const isStream = (request: Request) => request.url().includes('/matches/stream');
  page.on('request', (request) => isStream(request) && streams.push(request));
  page.on('requestfailed', (request) => isStream(request) && ended.push(request));
  await setHidden(page, true);
  await eventually(() => ended.length === 1, patience);
  await postAndList(...numbered('unseen', 3));
  expect(await feed.row('unseen').count()).toBe(0);
  expect(streams).toEqual([]);
  await setHidden(page, false);
  await feed.row('unseen 2').waitFor();
  expect(await streams[0]?.headerValue('last-event-id')).toMatch(/^c/);
  await expectAll(feed);
});

/** Simulates a change of the tab, which a headless browser does not have. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    Object.defineProperty(document, 'visibilityState', { value: '${isHidden ? 'hidden' : 'visible'}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

test('the shown matches are downloaded as CSV', async () => {
  await postAndList('lantern to export');
  const { page, feed, problems } = await openLive();
  await feed.row('lantern to export').waitFor();
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const download = await started;
  expect(download.suggestedFilename()).toBe('matches.csv');
  const lines = (await readFile(await download.path(), 'utf8')).split('\r\n');
  expect(lines[0]).toMatch(/^id,created_at,rule_id,/);
  const texts = await listedTexts(running.server, running);
  expect(lines.slice(1, -1).map((line) => line.split(',')[10])).toEqual(texts.toReversed());
  expect(problems).toEqual([]);
});

test('a removed match disappears', async () => {
  const [removed] = await postAndList('lantern to be removed', 'lantern to stay');
  const { feed } = await openLive();
  await feed.row('lantern to be removed').waitFor();
  await running.world.admin.forget({ post: removed?.id ?? '' });
  await feed.row('lantern to be removed').waitFor({ state: 'detached' });
  await feed.row('lantern to stay').waitFor();
  await expectAll(feed);
});

test('at the limit of streams, the feed shows its list and says why it is not live', async () => {
  const others = await Promise.all(Array.from({ length: 5 }, openStream));
  const { page } = await running.open();
  opened = page;
  const feed = feedOf(page);
  await feed.status('Not live: the key has reached its limit of open streams. Close another tab.');
  await feed.rows.first().waitFor();
  for (const { controller } of others) controller.abort();
  await feed.status('Live');
  await post('lantern after the crowd');
  await feed.row('lantern after the crowd').waitFor();
  await expectAll(feed);
});

/** The caller must keep the answer: if it is garbage-collected, its stream is closed. */
async function openStream() {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${running.account.key}` };
  const url = `${running.server.url}/matches/stream`;
  // Retries, because the server may not have noticed yet that the previous test closed its page.
  const answer = await eventually(
    async () => {
      const response = await fetch(url, { headers, signal: controller.signal });
      expect(response.status).toBe(200);
      return response;
    },
    { timeoutMs: 60_000 },
  );
  return { controller, answer };
}

describe('the histogram selects a range, which is in the address', () => {
  test('a past range shows only its matches', async () => {
    const { page, feed } = await openLive();
    await brush(page, 0.1, 0.4);
    await feed.status('Past matches');
    const [from, to] = [feed.parameter('from'), feed.parameter('to')];
    expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBeGreaterThan(6 * 3_600_000);
    await page.getByText('Nothing matched').first().waitFor();
    await page.getByRole('button', { name: /Show all times/ }).click();
    await feed.status('Live');
    expect(feed.parameter('from')).toBeNull();
  });

  test('a range up to now also shows new matches', async () => {
    const { page, feed } = await openLive();
    await brush(page, 0.5, 1);
    await eventually(() => feed.parameter('from') !== null, patience);
    expect(feed.parameter('to')).toBeNull();
    await feed.status('Live');
    await post('lantern of the chosen time');
    await feed.row('lantern of the chosen time').waitFor();
  });
});

/** Selects a part of the chart by dragging. */
async function brush(page: Page, from: number, to: number): Promise<void> {
  const chart = page.locator('.u-over');
  await chart.waitFor();
  const box = await chart.boundingBox();
  if (!box) throw new Error('the chart is not shown');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width + 1, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width - 1, y, { steps: 5 });
  await page.mouse.up();
}

test('j and k open the next and previous match, Esc closes it, and the address has the open one', async () => {
  await postAndList('lantern below', 'lantern above');
  const { page, feed } = await openLive();
  await feed.row('lantern above').waitFor();
  const [newest = '', next = ''] = await listedTexts(running.server, running);
  await page.keyboard.press('j');
  await feed.peek.getByText(newest).waitFor();
  await page.keyboard.press('j');
  await feed.peek.getByText(next).waitFor();
  const peeked = feed.parameter('peek');
  await page.keyboard.press('k');
  await feed.peek.getByText(newest).waitFor();
  expect(feed.parameter('peek')).not.toBe(peeked);
  await page.keyboard.press('Escape');
  await feed.peek.waitFor({ state: 'detached' });
  expect(feed.parameter('peek')).toBeNull();

  await page.goto(`${running.server.url}/feed?peek=${peeked}`);
  await feed.peek.getByText(next).waitFor();
});
