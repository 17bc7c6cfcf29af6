import { setTimeout as sleep } from 'node:timers/promises';
import { sentAt } from '../pipeline/latency.ts';

/** What the load writes into each item. */
const numberOf = (text: string) => Number(/ (?:post|page) (\d+)/.exec(text)?.[1]);
const storedAtOf = (text: string) => Date.parse(/"created_at":"([^"]+)"/.exec(text)?.[1] ?? '');

const reconnectAfterMs = 250;

export interface Listed {
  readonly number: number;
  /** From the moment before it was put into the sandbox. */
  readonly storedAfterMs: number;
  readonly listedAfterMs: number;
}

/**
 * One stream of all matches, which reconnects where it ended. Events are searched instead of parsed, because the follower shares
 * the processors with what it measures.
 */
export function followAll(url: string, key: string, onListed: (listed: Listed) => void) {
  const stopping = new AbortController();
  let cursor: string | undefined;
  const opened = Promise.withResolvers<void>();

  const take = (event: string) => {
    cursor = /^id: (.*)$/m.exec(event)?.[1] ?? cursor;
    if (cursor !== undefined) opened.resolve();
    if (!/^event: match$/m.test(event)) return;
    const sentMs = sentAt(event);
    onListed({
      number: numberOf(event),
      storedAfterMs: storedAtOf(event) - sentMs,
      listedAfterMs: Date.now() - sentMs,
    });
  };

  const readOnce = async () => {
    const answer = await fetch(new URL('/matches/stream', url), {
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'text/event-stream',
        ...(cursor !== undefined && { 'last-event-id': cursor }),
      },
      signal: stopping.signal,
    });
    if (!answer.ok || answer.body === null) throw new Error(`the stream was refused: ${answer.status}`);
    let rest = '';
    for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + text).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) take(event);
    }
  };

  const running = (async () => {
    while (!stopping.signal.aborted) {
      await readOnce().catch(() => undefined);
      await sleep(reconnectAfterMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    /** It sees everything that is stored from then on. */
    opened: opened.promise,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
