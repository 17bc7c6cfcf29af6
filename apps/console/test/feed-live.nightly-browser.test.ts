import { eventually } from '@earshot/testkit';
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Console, startConsole } from './console-page.ts';
import { createLanternRule, feedOf, listedTexts, patience, patientLeases } from './feed-page.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole(patientLeases);
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

/** Posts, and waits until the API lists them. */
async function postAndList(...texts: string[]) {
  const posts = await post(...texts);
  await eventually(async () => {
    expect(await listedTexts(running.server, running)).toEqual(expect.arrayContaining(texts));
  }, patience);
  return posts;
}

test('new matches come to the top by themselves, each once', async () => {
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

describe('while somebody reads, the list stands still and nothing is lost', () => {
  test('beside an open match', async () => {
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

  test('away from the top', async () => {
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

test('a hidden tab has no stream; seen again, it goes on from where it was', async () => {
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

/** As when another tab is chosen: a browser without windows has none. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    Object.defineProperty(document, 'visibilityState', { value: '${isHidden ? 'hidden' : 'visible'}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

test('what is removed vanishes', async () => {
  const [removed] = await postAndList('lantern to be removed', 'lantern to stay');
  const { feed } = await openLive();
  await feed.row('lantern to be removed').waitFor();
  await running.world.admin.forget({ post: removed?.id ?? '' });
  await feed.row('lantern to be removed').waitFor({ state: 'detached' });
  await feed.row('lantern to stay').waitFor();
  await expectAll(feed);
});

test('with as many streams as the key may have, the list is there and says why it is not live', async () => {
  const others = await Promise.all(Array.from({ length: 5 }, openStream));
  const { page } = await running.open();
  opened = page;
  const feed = feedOf(page);
  await feed.status('Not live: the key has as many streams open as it may. Close another tab.');
  await feed.rows.first().waitFor();
  for (const { controller } of others) controller.abort();
  await feed.status('Live');
  await post('lantern after the crowd');
  await feed.row('lantern after the crowd').waitFor();
  await expectAll(feed);
});

/** The answer has to be kept: one that nobody holds is collected as garbage, and its stream is closed. */
async function openStream() {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${running.account.key}` };
  const url = `${running.server.url}/matches/stream`;
  // The server may not have noticed yet that the page of the test before is closed.
  const answer = await eventually(
    async () => {
      const asked = await fetch(url, { headers, signal: controller.signal });
      expect(asked.status).toBe(200);
      return asked;
    },
    { timeoutMs: 60_000 },
  );
  return { controller, answer };
}

describe('the histogram chooses a time, which is in the address', () => {
  test('one that is over: only what was then, and nothing new', async () => {
    const { page, feed } = await openLive();
    await brush(page, 0.1, 0.4);
    await feed.status('A time in the past');
    const [from, to] = [feed.parameter('from'), feed.parameter('to')];
    expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBeGreaterThan(6 * 3_600_000);
    await page.getByText('Nothing matched').first().waitFor();
    await page.getByRole('button', { name: /Show all times/ }).click();
    await feed.status('Live');
    expect(feed.parameter('from')).toBeNull();
  });

  test('one that goes on: what came since, and what comes', async () => {
    const { page, feed } = await openLive();
    await brush(page, 0.5, 1);
    await eventually(() => feed.parameter('from') !== null, patience);
    expect(feed.parameter('to')).toBeNull();
    await feed.status('Live');
    await post('lantern of the chosen time');
    await feed.row('lantern of the chosen time').waitFor();
  });
});

/** Drags over a part of the chart. */
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

test('j and k walk through the matches, Esc closes, and the address has the one that is open', async () => {
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
