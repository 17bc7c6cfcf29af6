import { describe, expect, test } from 'vitest';
import { createLocalBells } from '../../test/local-bells.ts';
import { silentLog } from '../../test/support.ts';
import { createDeliverWorker } from './deliver-worker.ts';
import type { LeasedWebhook } from './leased-webhook.ts';

function leasedOf(webhookId: string): LeasedWebhook {
  return {
    lease: 'snd_1',
    webhookId,
    accountId: 'acc_1',
    epoch: 1,
    name: 'n',
    url: 'https://hooks.example',
    format: 'standard',
    dueAt: new Date(0),
    nowMs: () => 0,
    ruleIds: null,
    platform: null,
    relevance: 'all',
    maxMatches: 100,
    storiesFrom: null,
    secrets: [],
    state: {
      position: 0,
      suspects: [],
      batchMax: 100,
      failures: 0,
      failingMs: null,
      troubled: false,
      disabledReason: null,
    },
    nextAttemptAt: new Date(0),
    notices: null,
    batch: null,
    logEnd: 1,
  };
}

/** `dead` endpoints that never answer are leased before one that works; resolves to true if that one was served. */
async function servesTheLast(
  dead: number,
  lateAfterMs: number,
  withinMs: number,
  areTroubled = false,
): Promise<boolean> {
  const waiting = [...Array.from({ length: dead }, (_, n) => `dead${n}`), 'alive'].map(leasedOf);
  const stop = new AbortController();
  const over = Promise.withResolvers<void>();
  const served = Promise.withResolvers<boolean>();
  const worker = createDeliverWorker({
    store: {
      leaseDue: async ({ max, troubled }) => (troubled === areTroubled ? waiting.splice(0, max) : []),
      release: async () => undefined,
    },
    deliver: async ({ webhookId }) => {
      if (webhookId === 'alive') served.resolve(true);
      else await over.promise;
    },
    bells: createLocalBells(),
    log: silentLog,
    lateAfterMs,
  });
  const running = worker.run(stop.signal);
  const deadline = setTimeout(() => served.resolve(false), withinMs);
  const answer = await served.promise;
  clearTimeout(deadline);
  over.resolve();
  stop.abort();
  await running;
  return answer;
}

test('endpoints that never answer free their senders before their attempts end', async () => {
  expect(await servesTheLast(200, 20, 20_000)).toBe(true);
});

test('control: if they occupy all senders, no other endpoint is served', async () => {
  expect(await servesTheLast(64, 60_000, 1_500)).toBe(false);
});

test('the number of late messages is limited', async () => {
  expect(await servesTheLast(400, 20, 1_500)).toBe(false);
});

describe('for endpoints that failed before', () => {
  test('endpoints that never answer free their senders too', async () => {
    expect(await servesTheLast(100, 20, 20_000, true)).toBe(true);
  });

  test('the number of late messages is limited', async () => {
    expect(await servesTheLast(200, 20, 1_500, true)).toBe(false);
  });
});
