import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxClient } from '../src/sandbox-client.ts';
import type { SentItem } from './compare.ts';

export const ruleWord = 'pulse';
const ticksPerSecond = 10;

export interface Feed {
  /** By the id under which a match would be listed. */
  readonly sent: Readonly<Record<'x' | 'firehose' | 'bluesky', ReadonlyMap<string, SentItem>>>;
  /** Sends nothing until the work is done. */
  pausedFor(work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Sends as much to each platform at a steady pace; records what was sent and when. */
export function startFeed(sandbox: SandboxClient, eventsPerSecond: number): Feed {
  const sent = {
    x: new Map<string, SentItem>(),
    firehose: new Map<string, SentItem>(),
    bluesky: new Map<string, SentItem>(),
  };
  const perTick = Math.max(1, Math.round(eventsPerSecond / ticksPerSecond / 3));
  const stopping = new AbortController();
  let count = 0;
  let pause = Promise.resolve();
  const tick = async () => {
    const numbers = Array.from({ length: perTick }, () => count++);
    const sentAfter = Date.now();
    const [injected, , uris] = await Promise.all([
      sandbox.posts(numbers.map((n) => `${ruleWord} ${n}`)),
      sandbox.pages(
        numbers.map((n) => ({ url: `https://news.example/${n}`, title: 'News', text: `${ruleWord} ${n}` })),
      ),
      // Every second post of Bluesky matches nothing.
      sandbox.blueskyPosts(numbers.flatMap((n) => [`${ruleWord} ${n}`, `noise ${n}`])),
    ]);
    const at = { sentAfter, sentBefore: Date.now() };
    for (const { id } of injected) sent.x.set(id, at);
    for (const n of numbers) sent.firehose.set(`https://news.example/${n}`, at);
    for (const uri of uris.filter((_, index) => index % 2 === 0)) sent.bluesky.set(uri, at);
  };
  const running = (async () => {
    for (let dueMs = performance.now(); !stopping.signal.aborted; dueMs += 1_000 / ticksPerSecond) {
      await sleep(Math.max(0, dueMs - performance.now()));
      await pause;
      await tick();
    }
  })();
  return {
    sent,
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
