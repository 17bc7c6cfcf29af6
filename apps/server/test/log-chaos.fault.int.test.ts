import { lengthOf, startTestNats, testNightly } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { connectNats } from '../src/engines/nats.ts';
import { createEventLog, type EventLog } from '../src/event-log/event-log.ts';
import { type ChaosOptions, type ChaosResult, runLogChaos } from './log-chaos.ts';
import { makeEventsStream } from './support.ts';

/** `pnpm test:log-chaos --acknowledged N` makes it longer. */
const acknowledged = Number(
  process.env['LOG_CHAOS_ACKNOWLEDGED'] ?? lengthOf({ always: 5_000, nightly: 50_000 }),
);
const timeoutMs = 120_000 + acknowledged * 5;

async function chaosOn(
  makeLog: (log: EventLog) => EventLog,
  wanted: Pick<ChaosOptions, 'acknowledged' | 'faultsOfEachKind'>,
): Promise<ChaosResult> {
  await using servers = await startTestNats({ nodes: 3 });
  await using nats = await connectNats(servers.url, 'test');
  await makeEventsStream(nats, { replicas: 3, bytesMax: 8 * 1024 ** 3 });
  const log = makeLog(createEventLog(nats));
  return await runLogChaos({ servers, nats, log, ...wanted, random: Math.random });
}

describe('three nodes that are killed, stopped and all killed at once while events are appended', () => {
  test('lose and duplicate no acknowledged event, and do not stall', {
    timeout: timeoutMs,
  }, async () => {
    const result = await chaosOn((log) => log, {
      acknowledged,
      faultsOfEachKind: lengthOf({ always: 1, nightly: 2 }),
    });
    console.info(JSON.stringify(result));
    expect(result.acknowledged).toBeGreaterThanOrEqual(acknowledged);
    expect(result).toMatchObject({ lost: 0, doubled: 0 });
    // 15 s is the promise. On a busy machine this only detects a writer that hangs.
    expect(result.stallMs).toBeLessThan(lengthOf({ always: 60_000, nightly: 15_000 }));
  });

  testNightly('control: a writer that tries once and ignores errors loses events', {}, async () => {
    const result = await chaosOn(
      (log) => ({
        ...log,
        // Less than the time between two attempts.
        append: (event, consumed) =>
          log.append(event, consumed, AbortSignal.timeout(100)).catch(() => undefined),
      }),
      { acknowledged: 500, faultsOfEachKind: 1 },
    );
    expect(result.lost).toBeGreaterThan(0);
  });
});
