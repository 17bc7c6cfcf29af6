import { expect, test, vi } from 'vitest';
import { xEvent } from '../../test/stream-events.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import { createParsedRules } from '../language/explain-match.ts';
import { platforms } from '../upstream/platforms.ts';
import { createVerdictSampler, type RegisteredRule, type VerdictCount } from './verdicts.ts';

const startMs = Date.parse('2026-09-01T12:00:00Z');
const hourMs = 3_600_000;

function post(number: number, { text = 'an aurora tonight', publishedAtMs = startMs } = {}): LogEvent {
  const event = xEvent(number);
  const published_at = new Date(publishedAtMs).toISOString();
  return {
    ...event,
    payload: { ...event.payload, published_at, raw: { data: { text, lang: 'en' } } },
  };
}

function page(number: number): LogEvent {
  const raw = { document: { url: 'https://a.example', title: 'Aurora' } };
  const event = post(number);
  return {
    ...event,
    platform: 'firehose',
    sourceId: 'firehose:main',
    payload: { ...event.payload, raw },
  };
}

function rule(number: number, value: string, changed: Partial<RegisteredRule> = {}): RegisteredRule {
  const heededFrom = new Date(startMs - hourMs);
  return { slotId: `slot_${number}`, upstreamRuleId: `${number}`, value, heededFrom, ...changed };
}

/** A sampler with the clock and the source's rules in the hands of the test. The list of rules is read all the time. */
function openSampler(rules: readonly RegisteredRule[], { stepMs = 0 } = {}) {
  const clock = { nowMs: startMs, seenAt: null as Date | null };
  const written: VerdictCount[][] = [];
  const told: unknown[] = [];
  let compared = 0;
  const sampler = createVerdictSampler({
    installation: 'here',
    parsedRules: createParsedRules(),
    nowMs: () => (clock.nowMs += stepMs),
    store: {
      registeredOn: async (_, max) => ({
        seenAt: clock.seenAt ?? new Date(clock.nowMs + hourMs),
        rules: rules.slice(0, max),
      }),
      add: async (counts) => void written.push([...counts]),
    },
    telemetry: {
      verdictCompared: () => void compared++,
      verdictFalse: (verdict) => void told.push(verdict),
    },
  });
  return {
    clock,
    told,
    sampler,
    compared: () => compared,
    counted: async (): Promise<string[]> => {
      written.length = 0;
      await sampler.compare();
      return (written[0] ?? [])
        .map(({ platform, operator, outcome, count }) => `${platform} ${operator} ${outcome} ${count}`)
        .toSorted();
    },
  };
}

test('a post is a verdict on the rules that it names and on those that it does not, both ways', async () => {
  const { sampler, told, counted } = openSampler([
    rule(1, 'aurora'),
    rule(2, 'glacier'),
    rule(3, 'lang:de'),
    rule(4, 'aurora lang:en'),
    rule(5, 'aurora sample:10'),
    rule(6, 'glacier volcano'),
  ]);
  const event = { ...post(1), rules: [1, 7].map((n) => ({ upstreamRuleId: `${n}`, tag: null })) };
  sampler.sample([
    { event, value: 'aurora' },
    { event, value: 'aurora lang:fr' },
  ]);
  expect(await counted()).toEqual([
    'x keyword agreed 2', // aurora by the post's word, glacier by its lack
    'x keyword false 1',
    'x lang agreed 1',
    'x lang false 1',
    'x lang missed 1',
    'x sample undecided 1',
    'x several agreed 1',
  ]);
  expect(told).toEqual([
    {
      platform: 'x',
      operators: ['keyword', 'lang'],
      value: 'aurora lang:en',
      platformPostId: event.platformPostId,
    },
  ]);
  expect(await counted(), 'a post is compared once').toEqual([]);
});

test('a rule that the post names by its tag or by its id is not among those that it denies', async () => {
  const { sampler, counted } = openSampler([rule(1, 'glacier'), rule(2, 'volcano'), rule(3, 'lake')]);
  const event = {
    ...post(1),
    rules: [
      { upstreamRuleId: 'other', tag: 'earshot:here:slot_1' },
      { upstreamRuleId: '2', tag: 'somebody else’s' },
    ],
  };
  sampler.sample([{ event, value: 'aurora' }]);
  expect(await counted()).toEqual(['x keyword agreed 2']);
});

test.each([
  ['heeded only after the post was published', new Date(startMs + 1)],
  ['heeded for less than the clocks may differ', new Date(startMs - 5_000)],
])('a rule %s is not denied by it', async (_, heededFrom) => {
  const { sampler, counted } = openSampler([rule(2, 'aurora', { heededFrom })]);
  sampler.sample([{ event: post(1), value: 'aurora' }]);
  expect(await counted()).toEqual(['x keyword agreed 1']);
});

test('a post without a time denies no rule', async () => {
  const { sampler, counted } = openSampler([rule(2, 'aurora')]);
  const event = post(1);
  sampler.sample([
    { event: { ...event, payload: { ...event.payload, published_at: null } }, value: 'aurora' },
  ]);
  expect(await counted()).toEqual(['x keyword agreed 1']);
});

test('a post waits until the list of the rules was read after it, and not for ever', async () => {
  const { sampler, clock, counted } = openSampler([rule(2, 'glacier')]);
  clock.seenAt = new Date(startMs);
  sampler.sample([{ event: post(1), value: 'aurora' }]);
  expect(await counted()).toEqual([]);
  clock.seenAt = new Date(startMs + 30_000);
  expect(await counted()).toEqual(['x keyword agreed 2']);

  clock.nowMs = startMs + hourMs;
  sampler.sample([{ event: post(2), value: 'aurora' }]);
  clock.nowMs += 16 * 60_000;
  expect(await counted()).toEqual([]);
  clock.seenAt = new Date(clock.nowMs);
  expect(await counted()).toEqual([]);
});

test('a page of Firehose is no verdict on the rules that it does not name', async () => {
  const { sampler, counted } = openSampler([rule(2, 'title:"glacier"'), rule(3, 'title:"aurora"')]);
  sampler.sample([{ event: page(1), value: 'title:"aurora"' }]);
  expect(await counted()).toEqual(['firehose title agreed 1']);
});

test('what was searched for is not compared: it names the rule that was searched for and no other', async () => {
  const { sampler, counted } = openSampler([rule(2, 'glacier')]);
  sampler.sample([{ event: { ...post(1), via: 'search' }, value: 'aurora' }]);
  expect(await counted()).toEqual([]);
});

test('however many posts come, one a second is compared, with a bounded number of rules', async () => {
  const many = Array.from({ length: 1_000 }, (_, n) => rule(n + 2, `glacier${n}`));
  const { sampler, clock, compared } = openSampler(many);
  for (let second = 0; second < 20; second++) {
    clock.nowMs = startMs + second * 1_000;
    // 100 posts in this second, each of which matches 100 rules.
    for (let number = 0; number < 100; number++) {
      const event = post(second * 100 + number);
      sampler.sample(Array.from({ length: 100 }, () => ({ event, value: 'aurora' })));
    }
  }
  await sampler.compare();
  expect(compared()).toBe(20 * (50 + 50));

  // The list of rules is not read, so nothing is compared: what waits is bounded as well.
  clock.seenAt = new Date(0);
  for (let second = 20; second < 500; second++) {
    clock.nowMs = startMs + second * 1_000;
    sampler.sample([{ event: post(second), value: 'aurora' }]);
  }
  await sampler.compare();
  clock.seenAt = new Date(clock.nowMs + hourMs);
  await sampler.compare();
  expect(compared()).toBe(20 * (50 + 50) + 60 * 51);
});

test('a step ends when its time for computing is used up', async () => {
  // Every look at the clock takes 10 ms, so every comparison does.
  const { sampler, compared } = openSampler(
    Array.from({ length: 100 }, (_, n) => rule(n + 2, `glacier${n}`)),
    { stepMs: 10 },
  );
  sampler.sample([{ event: post(1), value: 'aurora' }]);
  await sampler.compare();
  expect(compared()).toBe(30);
});

test('taking a sample evaluates nothing', () => {
  const { sampler } = openSampler([rule(2, 'glacier')]);
  const explain = vi.spyOn(platforms.x.language, 'explain');
  const evaluate = vi.spyOn(platforms.x.language, 'evaluate');
  sampler.sample([{ event: post(1), value: 'aurora' }]);
  expect([explain.mock.calls, evaluate.mock.calls]).toEqual([[], []]);
  vi.restoreAllMocks();
});
