import { migratedTemplate } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { readInstallation } from '../src/engines/installation.ts';
import { type LogEvent } from '../src/event-log/event-log.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { createTraces, type Span } from '../src/observability/traces.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { openTestDatabase, seedRules, silentTelemetry } from './support.ts';

describe('a batch of events', () => {
  async function openMatching() {
    await using stack = new AsyncDisposableStack();
    const clone = stack.use(await migratedTemplate().clone());
    const database = stack.use(openTestDatabase(clone.url));
    await seedRules(database, 3);
    const installation = (await readInstallation(database)).id;
    const recorded: Span[] = [];
    const traces = createTraces(installation, {
      isSampled: () => true,
      record: (span) => {
        const spanId = span.spanId ?? `random-${recorded.length}`;
        recorded.push({ ...span, spanId });
        return spanId;
      },
    });
    const store = createMatchStore(database, { traces });
    const all = stack.move();
    return {
      store,
      /** Returns the spans of the batch. */
      async deliver(events: readonly LogEvent[], deliveries = 1): Promise<Span[]> {
        recorded.length = 0;
        const options = {
          installation,
          store,
          traces,
          bells: createLocalBells(),
          telemetry: silentTelemetry(),
        };
        await storeBatch(
          options,
          events.map((event, index) => ({
            sequence: index + 1,
            loggedAt: new Date(),
            event,
            body: JSON.stringify(event),
            deliveries,
            ack: () => undefined,
            message: { open: 1 },
            redeliver: () => undefined,
          })),
        );
        return [...recorded];
      },
      [Symbol.asyncDispose]: () => all.disposeAsync(),
    };
  }

  const outcomes = (spans: readonly Span[]) =>
    spans.map(({ name, attributes }) =>
      name === 'store' ? `store ${attributes['earshot.rule']}` : attributes['earshot.outcome'],
    );

  test('has a span for each new match, and none for one that is stored already', async () => {
    await using matching = await openMatching();
    const rule = (n: number) => ({ upstreamRuleId: `${n}`, tag: null });
    const first = await matching.deliver([xEvent(1), xEvent(1), xEvent(2, { rules: [rule(1), rule(2)] })]);
    expect(outcomes(first)).toEqual([
      'stored',
      'store rule_1',
      'stored',
      'stored',
      'store rule_1',
      'store rule_2',
    ]);
    const again = await matching.deliver([xEvent(1, { rules: [rule(1), rule(3)] })]);
    expect(outcomes(again)).toEqual(['stored', 'store rule_3']);
    const ids = [...first, ...again].filter(({ name }) => name === 'store').map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(4);
  });

  test('shows why an event has no matches', async () => {
    await using matching = await openMatching();
    const unknown = xEvent(1, { rules: [{ upstreamRuleId: '9', tag: null }] });
    expect(outcomes(await matching.deliver([unknown]))).toEqual(['unknown_rule']);
    expect(outcomes(await matching.deliver([xEvent(2, { day: '1999-01-01' })]))).toEqual([
      'time_out_of_range',
    ]);
    const refused = xEvent(3, { platformPostId: 'a\0b' });
    for (const [deliveries, outcome] of [
      [1, 'failed'],
      [5, 'dead_letter'],
    ] as const) {
      const [span, ...others] = await matching.deliver([refused], deliveries);
      expect(others).toEqual([]);
      expect(span).toMatchObject({ failed: true, attributes: { 'earshot.outcome': outcome } });
    }
  });
});
