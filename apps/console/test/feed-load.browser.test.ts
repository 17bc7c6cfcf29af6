import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@earshot/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { xToken } from '../../../e2e/src/world.ts';
import { type Console, startConsole } from './console-page.ts';
import { createLanternRule, feedOf, listedTexts, metricsOf, patience, patientLeases } from './feed-page.ts';

/** `pnpm test:console-load`: at full length, on a machine that does nothing else. */
const isFull = process.env['FULL_SIZE'] === '1';
const perSecond = 250;
const seconds = isFull ? 60 : 10;
/** While the server is away, X has nobody to deliver to. */
const storedMin = (perSecond * seconds) / 4;
const growthMaxMib = 50;

let running: Console;
beforeAll(async () => {
  // So many posts cost more than a rule may spend unless told.
  running = await startConsole({ ...patientLeases, EARSHOT_RULE_BUDGET: 'off' });
  await createLanternRule(running);
}, 600_000);
afterAll(() => running?.[Symbol.asyncDispose]());

test(`${perSecond} matches a second for ${seconds} s, and a killed server: the tab stays small, the list complete`, async () => {
  const { page, problems } = await running.open();
  const feed = feedOf(page);
  await feed.status('Live');
  const memory = await watchMemory(page);
  const before = await memory.read();

  const posting = postSteadily(perSecond * seconds);
  await eventually(() => posting.sent() >= (perSecond * seconds) / 2, patience);
  // On a busy machine what was sent is not yet stored, and what X still holds at the kill is lost.
  await eventually(async () => expect(await countStored()).toBeGreaterThan(storedMin), patience);
  await running.server.kill();
  await feed.status('Connection lost, trying again …');
  const server = await running.world.startServer({ EARSHOT_PORT: new URL(running.server.url).port });
  const tookSeconds = await posting.ended;
  await feed.status('Live');
  // What X has for somebody who is not connected is not delivered.
  await eventually(
    async () => expect((await running.world.sandbox.xState(xToken)).connections.open).toBe(1),
    patience,
  );
  await running.world.sandbox.posts(['lantern, the last one']);
  await feed.row('lantern, the last one').waitFor();
  const after = await memory.read();
  const listed = await settled(() => listedTexts(server, running));
  expect(listed.length).toBeGreaterThan(storedMin);
  expect(await feed.readAll(listed.length)).toEqual(listed);
  console.log({
    perSecond: Math.round((perSecond * seconds) / tookSeconds),
    listed: listed.length,
    heapMib: [before.heapMib, after.heapMib],
    residentMib: [before.residentMib, after.residentMib],
  });
  expect(after.heapMib - before.heapMib).toBeLessThan(growthMaxMib);
  expect(problems).toEqual([]);
}, 1_800_000);

async function countStored(): Promise<number> {
  const [row] = (await running.world.database.query('select count(*)::int as stored from matches')).rows;
  return row.stored;
}

/** On time whether or not anybody keeps up; on a busy machine as fast as it can. */
function postSteadily(count: number) {
  let sent = 0;
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1_000;
  const send = async () => {
    while (sent < count) {
      const due = Math.min(count, Math.floor(elapsed() * perSecond), sent + 100);
      const texts = Array.from({ length: due - sent }, (_, index) => `lantern number ${sent + index}`);
      if (texts.length > 0) await running.world.sandbox.posts(texts);
      sent = due;
      await sleep(20);
    }
    return elapsed();
  };
  return { sent: () => sent, ended: send() };
}

/** The value once it is the same twice: what the platform delivers late is there. */
async function settled<T>(read: () => Promise<T>): Promise<T> {
  let before = await read();
  return eventually(
    async () => {
      const now = await read();
      const isSame = JSON.stringify(now) === JSON.stringify(before);
      before = now;
      expect(isSame).toBe(true);
      return now;
    },
    { ...patience, intervalMs: 3_000 },
  );
}

/** What the page's scripts hold after their garbage is gone, and what its process takes from the machine. */
async function watchMemory(page: Page) {
  const metrics = await metricsOf(page);
  const pid = await rendererOf(page);
  return {
    async read() {
      await metrics.session.send('HeapProfiler.collectGarbage');
      return { heapMib: toMib(await metrics.read('JSHeapUsedSize')), residentMib: await residentMib(pid) };
    },
  };
}

/** The largest of them is the page's: the others wait for one. */
async function rendererOf(page: Page): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  const sizes = await Promise.all(renderers.map(async (pid) => ({ pid, mib: await residentMib(pid) })));
  return sizes.toSorted((a, b) => b.mib - a.mib)[0]?.pid ?? 0;
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return toMib(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024);
}

const toMib = (bytes: number) => Math.round(bytes / 2 ** 18) / 4;
