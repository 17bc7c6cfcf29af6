import { describe, expect, test, vi } from 'vitest';
import type { StepId } from '../src/doctor/register.ts';
import {
  addTapRule,
  addXRule,
  control,
  doctor,
  numbersOf,
  publish,
  secretText,
  startUpstreams,
} from './doctor-bench.ts';

// The tests mostly wait.
vi.setConfig({ maxConcurrency: 12 });

const paid: readonly StepId[] = ['X5', 'X6', 'F3'];

/** One knob each, and the only assumptions that it changes. */
const xRows = [
  { knob: { batch_policy: 'all_or_nothing' }, numbers: ['X-1'] },
  { knob: { rules_per_call_max: 50 }, numbers: ['X-3'] },
  { knob: { tag_length_max: 100 }, numbers: ['X-4'] },
  { knob: { length_unit: 'code_points' }, numbers: ['X-5'] },
  { knob: { length_unit: 'bytes' }, numbers: ['X-5'] },
  { knob: { values: 'one_space' }, numbers: ['X-6'] },
  { knob: { second_connection: 'replace' }, numbers: ['X-7'] },
  { knob: { connection_hold_ms: 36_000_000 }, numbers: ['X-8'] },
  { knob: { without_rules: 'closes' }, numbers: ['X-9'] },
  { knob: { backfill: 'ignored' }, numbers: ['X-14'] },
  { knob: { keep_alive_ms: 3_600_000 }, numbers: ['X-25'] },
  { knob: { duplicates: 'without_id' }, numbers: ['X-43'] },
  { knob: { stream_dialect: 'post' }, numbers: ['X-46'] },
  { knob: { usage: 'not_enrolled' }, numbers: ['X-47'] },
];
const firehoseRows = [
  { knob: { list_max: 3 }, numbers: ['F-8'] },
  { knob: { duplicate_rules: 'refused' }, numbers: ['F-9'] },
  { knob: { validation: 'bare' }, numbers: ['F-13'] },
  { knob: { long_since: 'shortened' }, numbers: ['F-15'] },
  { knob: { cursors: 'strict' }, numbers: ['F-17', 'F-18'] },
  { knob: { keep_alive: 'comments' }, numbers: ['F-19'] },
  { knob: { streams_max: 1 }, numbers: ['F-21'] },
  { knob: { refusals: 'in_errors' }, numbers: ['F-23'] },
  { knob: { default_operator: 'and' }, numbers: ['F-29'] },
  { knob: { rule_cap: 25 }, numbers: ['F-39'] },
];
const paidRows = [
  { path: 'x/knobs', knob: { expansions: 'free' }, numbers: ['X-13'] },
  { path: 'x/knobs', knob: { search_dialect: 'tweet' }, numbers: ['X-45'] },
  { path: 'firehose/knobs', knob: { rule_ids: 'query_id' }, numbers: ['F-40'] },
];
/** X-15 and F-46, which the doctor does not check. */
const knobsNotAsked = ['deletion_lag_ms'];

test.concurrent('finds no difference on platforms that behave as assumed, and runs every free step', async () => {
  await using sandbox = await startUpstreams();
  const report = await doctor(sandbox);
  expect(numbersOf(report, 'differs')).toEqual([]);
  expect(numbersOf(report, 'agrees').length).toBeGreaterThan(50);
  const left = report.steps.filter(({ outcome }) => outcome !== 'done');
  expect(left.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(
    paid.map((step) => `${step} left_out`),
  );
});

describe('finds differences of', () => {
  test.concurrent.each(xRows)('X with $knob', async ({ knob, numbers }) => {
    await using sandbox = await startUpstreams();
    await control(sandbox, 'x/knobs', knob);
    expect(numbersOf(await doctor(sandbox, { firehose: null }), 'differs')).toEqual(numbers);
  });

  test.concurrent('X that refuses the word NOT', async () => {
    await using sandbox = await startUpstreams();
    await control(sandbox, 'faults', { kind: 'rule_refused', contains: ' NOT ', count: null });
    const report = await doctor(sandbox, { steps: ['X2'] });
    expect(numbersOf(report, 'differs')).toEqual(['X-27']);
  });

  test.concurrent('an X app with rules of others, whose posts would be billed', async () => {
    await using sandbox = await startUpstreams();
    await addXRule(sandbox, { value: 'fjord', tag: 'theirs' });
    const report = await doctor(sandbox, { firehose: null });
    expect(numbersOf(report, 'differs')).toEqual(['X-48']);
    expect(report.steps).toContainEqual({
      step: 'X4',
      outcome: 'left_out',
      why: expect.stringContaining('billed'),
    });
    expect(await control(sandbox, 'x/state')).toMatchObject({ connections_total: 0 });
  });

  test.concurrent.each(firehoseRows)('Firehose with $knob', async ({ knob, numbers }) => {
    await using sandbox = await startUpstreams();
    await control(sandbox, 'firehose/knobs', knob);
    expect(numbersOf(await doctor(sandbox, { x: null }), 'differs')).toEqual(numbers);
  });
});

test.concurrent('covers every knob of the sandbox', async () => {
  await using sandbox = await startUpstreams();
  const knobs = await Promise.all(['x/knobs', 'firehose/knobs'].map((path) => control(sandbox, path)));
  const all = knobs.flatMap((answer) => Object.keys(Object(answer).knobs));
  const turned = [...xRows, ...firehoseRows, ...paidRows].flatMap(({ knob }) => Object.keys(knob));
  expect(new Set([...turned, ...knobsNotAsked])).toEqual(new Set(all));
});

describe('paid steps', () => {
  const spending = { steps: paid, spendUsd: 1 };

  test.concurrent('find no difference on platforms that behave as assumed, and report no content', async () => {
    await using sandbox = await startUpstreams();
    using _ = publish(sandbox);
    const report = await doctor(sandbox, spending);
    expect(numbersOf(report, 'differs')).toEqual([]);
    expect(numbersOf(report, 'agrees')).toEqual([
      'X-13',
      'X-22',
      'X-45',
      'X-54',
      'X-55',
      'F-16',
      'F-20',
      'F-22',
      'F-40',
      'F-41',
      'F-42',
      'F-45',
    ]);
    const text = JSON.stringify(report);
    expect(text).not.toContain(secretText);
    expect(text).not.toContain('news.example');
    expect(text).not.toMatch(/\d{6}|[0-9a-f]{8}-[0-9a-f]{4}|\dT\d|sandbox-x-token|fh_sandbox/);
  });

  test.concurrent.each(paidRows)('find out $knob', async ({ path, knob, numbers }) => {
    await using sandbox = await startUpstreams();
    using _ = publish(sandbox);
    await control(sandbox, path, knob);
    expect(numbersOf(await doctor(sandbox, spending), 'differs')).toEqual(numbers);
  });

  test.concurrent('are skipped if they may exceed the spending limit', async () => {
    await using sandbox = await startUpstreams();
    const report = await doctor(sandbox, { steps: paid, spendUsd: 0.3 });
    expect(report.steps.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual([
      'X5 left_out',
      'X6 done',
      'F3 left_out',
    ]);
    expect(report.steps[0]?.why).toBe('costs up to $0.50: --spend');
  });
});

/** The requests and items that would be billed. */
async function billsOf(sandbox: Parameters<typeof control>[0]) {
  const x = Object(await control(sandbox, 'x/state'));
  const firehose = Object(await control(sandbox, 'firehose/state'));
  return {
    searches: x.searches.made + x.archive_searches.made,
    posts: x.metering,
    pages: firehose.metering.events_delivered,
  };
}

test.concurrent('causes no cost without --spend, although posts and pages arrive', async () => {
  await using sandbox = await startUpstreams();
  using _ = publish(sandbox);
  // With unread pages of an earlier rule.
  await addTapRule(sandbox, { value: 'language:"en"' });
  await vi.waitFor(async () => {
    expect(Object(await control(sandbox, 'firehose/state')).events_in_buffer).toBeGreaterThan(3);
  }, 30_000);
  await control(sandbox, 'faults', { kind: 'rules_vanish', platform: 'firehose' });
  await doctor(sandbox, { isTapIdle: false });
  expect(await billsOf(sandbox)).toEqual({ searches: 0, posts: [], pages: 0 });
  await doctor(sandbox, { steps: paid, spendUsd: 1 });
  const { searches, posts, pages } = await billsOf(sandbox);
  expect({ searches, days: posts.length, pages: pages > 0 }).toEqual({ searches: 3, days: 1, pages: true });
});

test.concurrent('reports error messages of platforms without secrets, ids and times', async () => {
  await using sandbox = await startUpstreams();
  const named = '2026-01-02T03:04:05Z 1234567890 0b3f5c1e-1111-4222-8333-444455556666 fhm_other';
  const refusal = { kind: 'rules_status', status: 422, method: 'POST', count: null };
  await control(sandbox, 'faults', {
    faults: [
      // The message is cut within the token.
      { ...refusal, platform: 'x', body: { title: `${'x'.repeat(52)} sandbox-x-token`, reason: named } },
      { ...refusal, platform: 'firehose', body: { message: `${named} fh_sandbox` } },
    ],
  });
  const report = await doctor(sandbox, { steps: ['X3', 'F1'] });
  expect(report.assumptions).toContainEqual(
    expect.objectContaining({ number: 'F-38', observed: expect.stringContaining('[secret]') }),
  );
  expect(report.assumptions).toContainEqual(
    expect.objectContaining({ number: 'X-44', observed: expect.stringContaining('[time] [number] [id]') }),
  );
  expect(JSON.stringify(report)).not.toMatch(/sandbo|fhm?_|T03|12345|0b3f5c1e/);
});

test.concurrent('does not change existing rules', async () => {
  await using sandbox = await startUpstreams();
  await addXRule(sandbox, { value: 'fjord', tag: 'theirs' });
  await addTapRule(sandbox, { value: 'title:fjord', tag: 'theirs' });
  await addXRule(sandbox, { value: 'left', tag: 'earshot:doctor:0000:1' });
  const rules = async () => [
    Object(await control(sandbox, 'x/state')).rules,
    Object(await control(sandbox, 'firehose/state')).rules,
  ];
  const [xBefore, tapBefore] = await rules();
  expect(xBefore).toHaveLength(2);
  const report = await doctor(sandbox);
  expect(report.left_behind).toBe(0);
  // Only the rule of an earlier run is deleted.
  expect(await rules()).toEqual([[xBefore[0]], tapBefore]);
});

test.concurrent('deletes a rule whose answer was lost, and reports the step as failed', async () => {
  await using sandbox = await startUpstreams();
  await control(sandbox, 'faults', {
    faults: [
      { kind: 'rules_lost_answer', platform: 'x' },
      { kind: 'rules_lost_answer', platform: 'firehose' },
    ],
  });
  const report = await doctor(sandbox, { steps: ['X3', 'F1'] });
  expect(report.steps.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
  expect(await control(sandbox, 'faults')).toMatchObject({ faults: [{ fired: 1 }, { fired: 1 }] });
  expect(await control(sandbox, 'x/state')).toMatchObject({ rules: [] });
  expect(await control(sandbox, 'firehose/state')).toMatchObject({ rules: [] });
  expect(report.left_behind).toBe(0);
});

test.concurrent('retries deletions', async () => {
  await using sandbox = await startUpstreams();
  const running = doctor(sandbox, { steps: ['X4'] });
  const hasRule = async () =>
    expect(await control(sandbox, 'x/state')).toMatchObject({ connections: { open: 1 } });
  await vi.waitFor(hasRule, { timeout: 30_000, interval: 5 });
  await control(sandbox, 'faults', { kind: 'rules_status', platform: 'x', count: 2 });
  expect(await running).toMatchObject({ left_behind: 0, steps: [{ step: 'X4', outcome: 'failed' }] });
  expect(await control(sandbox, 'faults')).toMatchObject({ faults: [{ fired: 2 }] });
  expect(await control(sandbox, 'x/state')).toMatchObject({ rules: [] });
});

describe('with a token in use', () => {
  const ours = 'earshot:1033a29bab21:slot_01kb2m9x4c7q5t8w3y6z1v0n2p';

  test.concurrent.each([
    { what: 'rules of Earshot on X', add: addXRule, value: 'fjord' },
    { what: 'rules of Earshot on Firehose', add: addTapRule, value: 'title:fjord' },
  ])('refuses to run: $what', async ({ add, value }) => {
    await using sandbox = await startUpstreams();
    await add(sandbox, { value, tag: ours });
    const changes = async () => Object(await control(sandbox, 'x/state')).rule_calls.change;
    const before = await changes();
    await expect(doctor(sandbox)).rejects.toThrow('rules of Earshot');
    expect(await changes()).toEqual(before);
  });

  test.concurrent('refuses to run beside an open stream', async () => {
    await using sandbox = await startUpstreams();
    await addXRule(sandbox, { value: 'fjord' });
    const stop = new AbortController();
    const headers = { authorization: 'Bearer sandbox-x-token' };
    await fetch(`${sandbox.url}/2/tweets/search/stream`, { headers, signal: stop.signal });
    await expect(doctor(sandbox)).rejects.toThrow('open stream');
    stop.abort();
  });

  test.concurrent('opens no streams with --beside-others', async () => {
    await using sandbox = await startUpstreams();
    await addXRule(sandbox, { value: 'fjord', tag: ours });
    await addTapRule(sandbox, { value: 'title:fjord', tag: ours });
    const report = await doctor(sandbox, {
      isBesideOthers: true,
      spendUsd: 1,
      steps: ['X0', 'X4', 'X5', 'F2', 'F3'],
    });
    const done = report.steps.filter(({ outcome }) => outcome === 'done');
    expect(done.map(({ step }) => step)).toEqual(['X0']);
    expect(await control(sandbox, 'x/state')).toMatchObject({ connections_total: 0 });
  });
});
