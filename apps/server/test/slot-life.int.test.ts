import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { createLeaseStore, type Lease } from '../src/engines/leases.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createRegistrarStore } from '../src/slots/registrar.sql.ts';
import { type SlotEvent, type SlotState, slotLife } from '../src/slots/slot.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';
import { beginRule } from './upstream-world.ts';

let stack = new AsyncDisposableStack();
let template: Template;
let database: Database;
let lease: Lease;
beforeAll(async () => {
  template = stack.use(await createMigratedTemplate());
  database = stack.use(openTestDatabase(stack.use(await template.clone()).url));
  await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
  const sources = ['x:main', 'x:other'].map((id) => ({ id, platform: 'x', capacity: 10 }) as const);
  await createSourceStore(database).announce(sources);
  const held = await createLeaseStore(database).acquire('registrar:x:main', 'test', 60_000);
  if (!held) throw new Error('another node holds the lease');
  lease = held;
});
afterAll(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});
beforeEach(async () => {
  await database.run('delete from slot_holders');
  await database.run('delete from slots');
  await database.run('delete from rules');
  await database.run(`update sources set enabled = true`);
});

const slotId = 'slot_under_test';

/** The slot of `word` in a state, held by `rule_before` if it has a holder. */
async function putSlot(state: SlotState, { held, known }: { held: boolean; known: boolean }): Promise<void> {
  await createRuleStore(database).begin({
    id: 'rule_before',
    accountId: 'acc_1',
    createdBy: 'key_1',
    name: 'rule',
    intent: 'test',
    expiresAt: null,
    premiumRulesMax: 10,
    values: [{ platform: 'x', value: 'word', translatedValue: 'word' }],
  });
  await database.run('delete from slot_holders');
  await database.run(
    `update slots set id = $1, source_id = 'x:main', state = $2, upstream_rule_id = $3, registered_at = now(),
       retry_at = now() - interval '1 second'`,
    [slotId, state, known ? '7' : null],
  );
  if (held) {
    await database.run(
      `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version)
       values ($1, 'rule_before', 'acc_1', 'x', 1)`,
      [slotId],
    );
  }
}

const rules = () => createRuleStore(database);
const registrar = () => createRegistrarStore(database, { ruleDelayMs: 20_000 });

/** How each event reaches the database. */
const happen: Record<SlotEvent, { held: boolean; known: boolean; run: () => Promise<unknown> }> = {
  taken: { held: false, known: false, run: () => beginRule(rules(), { x: 'word' }) },
  taken_known: { held: false, known: true, run: () => beginRule(rules(), { x: 'word' }) },
  left: { held: true, known: true, run: () => rules().abandon('rule_before') },
  registered: {
    held: true,
    known: false,
    run: () => registrar().recordRegistered(lease, [{ slotId, upstreamRuleId: '8', foreignRule: false }]),
  },
  refused: {
    held: true,
    known: false,
    run: () => registrar().recordProblem(lease, [slotId], { kind: 'refused', words: 'no' }),
  },
  unavailable: {
    held: true,
    known: false,
    run: () => registrar().recordProblem(lease, [slotId], { kind: 'unavailable', words: 'later' }),
  },
  vanished: { held: true, known: true, run: () => registrar().recordVanished(lease, [slotId]) },
  picked: {
    held: false,
    known: true,
    run: () => registrar().beginDeleting(lease, { sourceId: 'x:main', limit: 10 }),
  },
  gone: { held: false, known: true, run: () => registrar().recordGone(lease, [slotId]) },
  gone_held: { held: true, known: true, run: () => registrar().recordGone(lease, [slotId]) },
  retried: { held: true, known: false, run: () => registrar().retryFailed(lease, 'x:main') },
  moved: {
    held: true,
    known: true,
    async run() {
      await database.run(`update sources set enabled = false where id = 'x:main'`);
      await registrar().moveAway(lease, 'x:main', 10);
    },
  },
};

const states = Object.keys(slotLife) as SlotState[];
const events = Object.keys(happen) as SlotEvent[];
const cells = states.flatMap((state) =>
  events.map((event) => {
    const next = slotLife[state][event];
    return [state, event, next === undefined ? state : (next ?? 'gone')] as const;
  }),
);

describe('the database follows the documented states of a slot', () => {
  test.each(cells)('%s, when %s: %s', async (state, event, after) => {
    const { held, known, run } = happen[event];
    await putSlot(state, { held, known });
    await run();
    const row = await database.one<{ state: SlotState }>('select state from slots where id = $1', [slotId]);
    expect(row?.state ?? 'gone').toBe(after);
  });
});

describe('the schema has the documented states of a slot, and no others', () => {
  const statesIn = (text: string) => [...text.matchAll(/'([a-z]+)'/g)].map(([, state]) => state);

  test('in the constraint of the column', async () => {
    const check = await database.one<{ text: string }>(
      `select pg_get_constraintdef(oid) as text from pg_constraint
       where conrelid = 'slots'::regclass and conname = 'slots_state_check'`,
    );
    expect(new Set(statesIn(check?.text ?? ''))).toEqual(new Set<string>(states));
  });

  test('in the triggers', async () => {
    const functions = await database.many<{ text: string }>(
      `select pg_get_functiondef(tgfoid) as text from pg_trigger where tgrelid = 'slots'::regclass and not tgisinternal`,
    );
    const compared = functions.flatMap(({ text }) => [...text.matchAll(/\.state (?:=|<>) '([a-z]+)'/g)]);
    expect(compared).not.toEqual([]);
    for (const [, state] of compared) expect(states).toContain(state);
  });
});
