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
    ruleId: null,
    platform: null,
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

/** `dead` endpoints that never answer stand before one that does; resolves true when that one was served. */
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

test('endpoints that never answer leave their places to others before their attempts are over', async () => {
  expect(await servesTheLast(200, 20, 20_000)).toBe(true);
});

test('control: with all places taken by them, nobody else is served', async () => {
  expect(await servesTheLast(64, 60_000, 1_500)).toBe(false);
});

test('there is an end to those who are late', async () => {
  expect(await servesTheLast(400, 20, 1_500)).toBe(false);
});

describe('among those that failed before', () => {
  test('endpoints that never answer leave their places too', async () => {
    expect(await servesTheLast(100, 20, 20_000, true)).toBe(true);
  });

  test('there is an end to those who are late', async () => {
    expect(await servesTheLast(200, 20, 1_500, true)).toBe(false);
  });
});
