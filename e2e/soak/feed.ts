import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxClient } from '../src/sandbox-client.ts';
import type { SentItem } from './compare.ts';

export const ruleWord = 'pulse';
const ticksPerSecond = 10;

export interface Feed {
  /** By the id under which a match would be listed. */
  readonly posts: ReadonlyMap<string, SentItem>;
  readonly pages: ReadonlyMap<string, SentItem>;
  /** Sends nothing until the work is done. */
  pausedFor(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Sends posts and pages, half and half, at a steady pace; records what was sent and when. */
export function startFeed(sandbox: SandboxClient, eventsPerSecond: number): Feed {
  const posts = new Map<string, SentItem>();
  const pages = new Map<string, SentItem>();
  const perTick = Math.max(1, Math.round(eventsPerSecond / ticksPerSecond / 2));
  const stopping = new AbortController();
  let count = 0;
  let pause = Promise.resolve();
  const tick = async () => {
    const numbers = Array.from({ length: perTick }, () => count++);
    const sentAfter = Date.now();
    const [injected] = await Promise.all([
      sandbox.posts(numbers.map((n) => `${ruleWord} ${n}`)),
      sandbox.pages(
        numbers.map((n) => ({ url: `https://news.example/${n}`, title: 'News', text: `${ruleWord} ${n}` })),
      ),
    ]);
    const sent = { sentAfter, sentBefore: Date.now() };
    for (const { id } of injected) posts.set(id, sent);
    for (const n of numbers) pages.set(`https://news.example/${n}`, sent);
  };
  const running = (async () => {
    for (let dueMs = performance.now(); !stopping.signal.aborted; dueMs += 1_000 / ticksPerSecond) {
      await sleep(Math.max(0, dueMs - performance.now()));
      await pause;
      await tick();
    }
  })();
  return {
    posts,
    pages,
    async pausedFor(work) {
      pause = work();
      await pause;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
