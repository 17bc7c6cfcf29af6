import { defaultXToken, startSandbox } from '@earshot/sandbox';
import { migratedTemplate } from '@earshot/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { checkKeptItems } from '../src/removals/check-kept-items.ts';
import { createUpstreamClient } from '../src/upstream/client.ts';
import type { Compliance } from '../src/upstream/platform.ts';
import { createXCompliance } from '../src/upstream/x/compliance.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent, xMatch } from './stream-events.ts';
import { openTestDatabase, seedRules } from './support.ts';

const template = migratedTemplate();
let stack: AsyncDisposableStack;
let database: Database;
let compliance: Compliance;
let sandboxUrl: string;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  [putOff, checked] = [[], []];
  database = stack.use(openTestDatabase(stack.use(await template.clone()).url));
  await seedRules(database, 1);
  const sandbox = stack.use(await startSandbox({ speed: 1_000 }));
  sandboxUrl = sandbox.url;
  const upstream = { baseUrl: sandbox.url, token: defaultXToken, name: 'X' };
  compliance = createXCompliance(stack.use(createUpstreamClient(upstream)), { pace: 1_000 });
});
afterEach(() => stack.disposeAsync());

const signal = new AbortController().signal;
let putOff: unknown[];
let checked: unknown[];

async function check(): Promise<void> {
  const telemetry = {
    complianceCheckPostponed: (one: unknown) => void putOff.push(one),
    keptItemsChecked: (one: unknown) => void checked.push(one),
  };
  await checkKeptItems({ database, bells: createLocalBells(), platform: 'x', compliance, telemetry }, signal);
}

async function control(path: string, body?: object): Promise<unknown> {
  const response = await fetch(new URL(path, sandboxUrl), {
    method: body ? 'POST' : 'GET',
    body: body ? JSON.stringify(body) : null,
  });
  expect(response.status).toBe(200);
  return response.json();
}

const jobs = async () => Object(await control('/sandbox/x/state')).compliance_jobs;

async function store(numbers: readonly number[]): Promise<number> {
  const events = numbers.map((number) => xEvent(number));
  const matches = events.map((event) => xMatch(event, 'rule_1'));
  return (await createMatchStore(database).write(events, matches, [], [])).counts['x'] ?? 0;
}

const kept = async () =>
  (await database.many<{ key: string }>('select event_key as key from matches order by position')).map(
    ({ key }) => key,
  );

test("once a day, posts that were deleted on X are removed with X's reason, and stay removed", async () => {
  await store([1, 2, 3, 4, 5]);
  await control('/sandbox/x/taken-down', {
    posts: [{ id: xEvent(2).key }, { id: xEvent(4).key, reason: 'suspended' }, { id: xEvent(9).key }],
  });
  compliance = { ...compliance, idsMax: 3 };
  await check();
  expect(putOff).toEqual([]);
  expect(checked).toEqual([{ platform: 'x', requested: 5, items: 2, matches: 2 }]);
  expect(await jobs()).toBe(2);
  expect(await kept()).toEqual([1, 3, 5].map((number) => xEvent(number).key));
  const removals = await database.many('select match_position, reason from removals order by position');
  expect(removals).toEqual([
    { match_position: 2, reason: 'deleted' },
    { match_position: 4, reason: 'suspended' },
  ]);
  expect(await store([2, 4])).toBe(0);

  await control('/sandbox/x/taken-down', { id: xEvent(1).key });
  await check();
  expect(await jobs()).toBe(2);
  await database.run(`update compliance_checks set completed_at = now() - interval '25 hours'`);
  await check();
  expect(await kept()).toEqual([3, 5].map((number) => xEvent(number).key));
});

test('while X refuses, nothing is removed, and the check is retried', async () => {
  await store([1]);
  await control('/sandbox/x/taken-down', { id: xEvent(1).key });
  await control('/sandbox/x/plan', { plan: 'out_of_credit' });
  await check();
  expect(putOff).toHaveLength(1);
  expect(await kept()).toHaveLength(1);
  await control('/sandbox/x/plan', { plan: 'payg' });
  await check();
  expect(await kept()).toEqual([]);
});
