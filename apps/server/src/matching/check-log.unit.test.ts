import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { readMessage } from '../event-log/event-consumer.ts';
import type { LogCopies, LogState } from '../event-log/log-copies.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createTelemetry } from '../observability/telemetry.ts';
import { createCheckLog } from './check-log.ts';

const hourMs = 3_600_000;

/** An in-memory log with three copies. `settledBy` are settled sequences, `copies` can be fetched. */
function openLog(changed: Partial<LogState> = {}, forgottenThrough = 0) {
  let state: LogState = {
    settledThrough: 0,
    deliveredThrough: 0,
    idleAt: null,
    deliverer: 'n1',
    copies: 3,
    ...changed,
  };
  const settledBy = new Set<number>();
  const fetchable = new Set<number>();
  const storable = new Set<number>();
  const bodies = new Map<number, string>();
  const stored: number[] = [];
  const metrics = createMetrics();
  let checked = 0;
  let nowMs = 0;
  let steps = 0;
  const log: LogCopies = {
    state: async () => state,
    async fetch(sequences) {
      const nothing = { deliveries: 1, onSettled: () => undefined, redeliver: () => undefined };
      const logged = (seq: number) =>
        readMessage({ seq, time: new Date(), string: () => bodies.get(seq) ?? 'event' }, nothing);
      return {
        found: sequences.filter((one) => fetchable.has(one)).flatMap(logged),
        missing: sequences.filter((one) => !fetchable.has(one)),
      };
    },
    changeDeliverer: async () => void steps++,
  };
  const check = createCheckLog({
    log,
    settled: {
      begin: async () => ({ from: checked, forgottenThrough }),
      unsettled: async (after, through) =>
        Array.from({ length: through - after }, (_, index) => after + index + 1).filter(
          (one) => !settledBy.has(one),
        ),
      advance: async (through) => void (checked = Math.max(checked, through)),
    },
    store: async (batch) => {
      for (const logged of batch) {
        if (!storable.has(logged.sequence) || logged.body === 'poison') continue;
        stored.push(logged.sequence);
        logged.ack();
        if (logged.message.open === 0) settledBy.add(logged.sequence);
      }
    },
    telemetry: createTelemetry(pino({ level: 'silent' }), metrics),
    nowMs: () => nowMs,
  });
  const holes = async () => {
    const { values } = await metrics.logGaps.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels['fate'], value]));
  };
  return {
    check,
    holes,
    settledBy,
    fetchable,
    storable,
    bodies,
    stored,
    checked: () => checked,
    steps: () => steps,
    be: (next: Partial<LogState>) => void (state = { ...state, ...next }),
    pass: (ms: number) => void (nowMs += ms),
  };
}

let log: ReturnType<typeof openLog>;
beforeEach(() => {
  log = openLog();
});

function settle(...sequences: number[]): void {
  for (const sequence of sequences) log.settledBy.add(sequence);
}

describe('a sequence that the log has passed', () => {
  test('is checked if it is settled, and nothing is fetched', async () => {
    settle(1, 2, 3, 5);
    log.be({ settledThrough: 3 });
    await log.check();
    expect(log.checked()).toBe(3);
    expect(await log.holes()).toMatchObject({ found: 0, recovered: 0, lost: 0 });
    expect(log.steps()).toBe(0);
  });

  test('is fetched from another copy and stored if it is unsettled, and reported once', async () => {
    settle(1, 4);
    log.be({ settledThrough: 4 });
    for (const one of [2, 3]) {
      log.fetchable.add(one);
      log.storable.add(one);
    }
    await log.check();
    await log.check();
    expect(log.stored).toEqual([2, 3]);
    expect(log.checked()).toBe(4);
    expect(log.steps()).toBe(1);
    expect(await log.holes()).toMatchObject({ found: 2, recovered: 2, lost: 0 });
  });

  test('is open until every event of its message is stored', async () => {
    settle(1, 4);
    log.be({ settledThrough: 4 });
    for (const one of [2, 3]) {
      log.fetchable.add(one);
      log.storable.add(one);
      log.bodies.set(one, one === 2 ? 'event\npoison\nevent' : 'event\nevent');
    }
    await log.check();
    expect(log.stored).toEqual([2, 2, 3, 3]);
    expect(log.checked()).toBe(1);
    expect(await log.holes()).toMatchObject({ found: 2, recovered: 1, lost: 0 });
    log.bodies.set(2, 'event\nevent\nevent');
    await log.check();
    expect(log.checked()).toBe(4);
    expect(await log.holes()).toMatchObject({ found: 2, recovered: 2, lost: 0 });
  });

  test('blocks the check while no copy has it, and is given up after ten minutes', async () => {
    settle(1, 3, 4);
    log.be({ settledThrough: 4 });
    await log.check();
    await log.check();
    expect(log.checked()).toBe(1);
    expect(await log.holes()).toMatchObject({ found: 1, recovered: 0, lost: 0 });
    log.pass(hourMs);
    await log.check();
    expect(log.checked()).toBe(4);
    expect(await log.holes()).toMatchObject({ found: 1, recovered: 0, lost: 1 });
  });

  test('is lost if two checks do not find it in the only copy', async () => {
    log = openLog({ copies: 1, settledThrough: 1 });
    await log.check();
    expect(log.checked()).toBe(0);
    expect(await log.holes()).toMatchObject({ found: 1, lost: 0 });
    await log.check();
    expect(log.checked()).toBe(1);
    expect(log.steps()).toBe(0);
    expect(await log.holes()).toMatchObject({ found: 1, recovered: 0, lost: 1 });
  });

  test('is not lost if the only copy has it at the next check', async () => {
    log = openLog({ copies: 1, settledThrough: 1 });
    await log.check();
    log.fetchable.add(1);
    log.storable.add(1);
    await log.check();
    expect(log.checked()).toBe(1);
    expect(await log.holes()).toMatchObject({ found: 1, recovered: 1, lost: 0 });
  });

  test('is not lost while the only copy has it and it cannot be stored', async () => {
    log = openLog({ copies: 1, settledThrough: 1 });
    log.fetchable.add(1);
    await log.check();
    await log.check();
    expect(log.checked()).toBe(0);
    expect(await log.holes()).toMatchObject({ found: 1, lost: 0 });
  });

  test('counts as forgotten by the database if it was acknowledged before the restart', async () => {
    log = openLog({ settledThrough: 3 }, 2);
    for (const one of [1, 2, 3]) {
      log.fetchable.add(one);
      log.storable.add(one);
    }
    log.be({ settledThrough: 2 });
    await log.check();
    expect(log.stored).toEqual([1, 2]);
    expect(log.steps()).toBe(0);
    expect(await log.holes()).toEqual({ found: 0, forgotten: 2, recovered: 2, lost: 0 });
    log.be({ settledThrough: 3 });
    await log.check();
    expect(log.steps()).toBe(1);
    expect(await log.holes()).toEqual({ found: 1, forgotten: 2, recovered: 3, lost: 0 });
  });

  test('is retried if it was found but could not be stored', async () => {
    log.be({ settledThrough: 1 });
    log.fetchable.add(1);
    await log.check();
    expect(log.checked()).toBe(0);
    log.storable.add(1);
    await log.check();
    expect(log.checked()).toBe(1);
    expect(await log.holes()).toMatchObject({ found: 1, recovered: 1, lost: 0 });
  });
});

describe('the end of the log', () => {
  test('is checked if the log is idle at two checks', async () => {
    settle(1);
    log.be({ settledThrough: 1, idleAt: 3 });
    log.fetchable.add(2).add(3);
    log.storable.add(2).add(3);
    await log.check();
    expect(log.checked()).toBe(1);
    expect(log.stored).toEqual([]);
    await log.check();
    expect(log.checked()).toBe(3);
    expect(log.stored).toEqual([2, 3]);
  });

  test('is not checked while events are unacknowledged', async () => {
    log.be({ settledThrough: 0, idleAt: null });
    await log.check();
    await log.check();
    expect(log.checked()).toBe(0);
  });
});
