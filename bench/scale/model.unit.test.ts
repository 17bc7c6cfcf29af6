import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Capacity, firstLimit, sharesOf } from './limits.ts';
import { checks, constants } from './measured.ts';
import { demandOf, type Workload } from './model.ts';
import {
  afterBurstTable,
  type Compared,
  checksTable,
  compare,
  costsTable,
  growthTables,
  monthTable,
  needsTable,
  stagesTable,
  turnSentence,
} from './tables.ts';

const workload: Workload = {
  events: 250,
  matchesPerEvent: 1,
  sources: 1,
  rules: 1_000,
  webhookMatches: 0,
  endpoints: 0,
  endpointMs: 150,
  streams: 0,
  streamDeliveries: 0,
  lists: 0,
  storedDays: 30,
  copies: 3,
  matchNodes: 1,
  nodes: 1,
};
const capacity: Capacity = {
  ingestNodes: 1,
  matchNodes: 1,
  deliverNodes: 1,
  apiNodes: 1,
  postgresCores: 4,
  natsCores: 6,
  sharedCores: null,
  eventsPerSourceMax: 250,
};

/** The runs were made beside other work, which bytes do not depend on. Some took 1.6 times the processor time that the model says. */
const isNear = ({ what, real, model }: Compared) =>
  what.endsWith('cores') ? model / real > 0.5 && model / real < 2 : Math.abs(model / real - 1) <= 0.25;

test('runs that no constant was taken from are as the model says: bytes within a quarter, cores within a factor of two', () => {
  expect(checks.length).toBeGreaterThanOrEqual(2);
  const far = checks.flatMap((point) =>
    compare(point)
      .filter((compared) => !isNear(compared))
      .map(({ what, real, model }) => `${point.curve}: ${what} was ${real}, the model says ${model}`),
  );
  expect(far).toEqual([]);
});

test('docs/scale.md has the tables that `pnpm bench:scale` prints', () => {
  const page = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8');
  const parts = [
    ...Object.values(growthTables()),
    costsTable(),
    needsTable(),
    stagesTable(),
    turnSentence(),
    monthTable(),
    checksTable(),
    afterBurstTable(),
  ];
  for (const part of parts) expect(page).toContain(part);
});

test('events that come together share messages and transactions, so that ten times as many cost less than ten times', () => {
  const sumOf = ({ cores }: ReturnType<typeof demandOf>) => cores.events + cores.nats;
  const [few, many] = [demandOf(workload, constants), demandOf({ ...workload, events: 2_500 }, constants)];
  expect(many.bytesPerSecond.log).toBeCloseTo(10 * few.bytesPerSecond.log);
  expect(sumOf(many)).toBeLessThan(6 * sumOf(few));
  expect(sumOf(many)).toBeGreaterThan(sumOf(few));
});

test('alone in a message and a transaction is what an event is when few come', () => {
  const { messages, transactions } = demandOf({ ...workload, events: 5 }, constants);
  expect({ messages, transactions }).toEqual({ messages: 5, transactions: 5 });
});

test('the first limit is what is full at its rate, and nothing is just below it', () => {
  const { what, events } = firstLimit(workload, capacity, constants);
  expect({ what, events: Math.round(events) }).toEqual({ what: 'streams of the upstreams', events: 250 });
  const more = { ...workload, sources: 1_000 };
  const second = firstLimit(more, capacity, constants);
  expect(second.events).toBeGreaterThan(250);
  const [fullest] = sharesOf({ ...more, events: second.events * 0.99 }, capacity, constants);
  expect(fullest?.share).toBeLessThan(1);
});

test('the turn of the writers is not made shorter by more nodes', () => {
  const busy = { ...workload, events: 25_000, sources: 1_000, matchNodes: 16, nodes: 64 };
  const few = demandOf(busy, constants).turnShare;
  expect(demandOf({ ...busy, matchNodes: 64, nodes: 256 }, constants).turnShare).toBeGreaterThanOrEqual(few);
});
