import { setTimeout as sleep } from 'node:timers/promises';
import { type Budget, type Notice, parseBudget } from '@earshot/contract';
import type { Template } from '@earshot/testkit';
import { defaultPrices } from '../src/billing/prices.ts';
import { notifyUnusualRates } from '../src/budgets/notify-unusual-rates.ts';
import { resumeAfterBudget } from '../src/budgets/resume-after-budget.ts';
import { createBudgetWatch } from '../src/budgets/watch-budgets.ts';
import type { Database } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import { createMatchStore } from '../src/matching/match-store.sql.ts';
import { storeBatch } from '../src/matching/match-worker.ts';
import { createNoticeReader } from '../src/notices/notice-reader.sql.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { newId } from '../src/runtime/ids.ts';
import { changeBy, changesOf, completionOf } from './changes.ts';
import { createLocalBells } from './local-bells.ts';
import { xEvent } from './stream-events.ts';
import { openTestDatabase, silentTelemetry } from './support.ts';

export function budgetOf(text: string): Budget {
  const budget = parseBudget(text);
  if (budget === null) throw new Error(`${text} is no budget`);
  return budget;
}

interface NewBudgetedRule {
  readonly accountId?: string;
  readonly key?: string;
  readonly budget?: Budget | null;
}

/** Two accounts whose rules with the same query share a slot, matches that cost $0.005 each, and nodes that watch budgets. */
export async function openBudgetWorld(template: Template) {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url, 20));
  await database.run(
    `insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid'), ('acc_2', 'two', 'paid')`,
  );
  await createSourceStore(database).announce([{ id: 'x:main', platform: 'x', capacity: 1_000 }]);
  await database.run(`update sources set live_until = now() + interval '1 hour'`);
  const store = createRuleStore(database);
  const installation = (await readInstallation(database)).id;
  const [bells, telemetry, prices] = [createLocalBells(), silentTelemetry(), defaultPrices()];
  const now = { ahead: 0 };
  const common = { bells, telemetry, prices, now: () => new Date(Date.now() + now.ahead) };
  const register = async () => {
    await database.run(
      `update slots set state = 'registered', upstream_rule_id = 'up_' || value where state = 'wanted'`,
    );
    await database.run('update slot_holders set served_since = now() where served_since is null');
  };
  /** Waits for work that waits for a registrar. */
  const registered = async <Answer>(work: Promise<Answer>): Promise<Answer> => {
    const over = new AbortController();
    const registering = (async () => {
      while (!over.signal.aborted) {
        await register();
        await sleep(20);
      }
    })();
    try {
      return await work;
    } finally {
      over.abort();
      await registering;
    }
  };
  const pass = (ms: number) =>
    database.transaction(async (sql) => {
      // In two steps: with one, a row would collide with the previous position of another.
      await sql.run(`update match_times set began = began - interval '100 years'`);
      await sql.run(`update match_times set began = began + interval '100 years' - $1 * interval '1 ms'`, [
        ms,
      ]);
      await sql.run(`update usage set last_match_at = last_match_at - $1 * interval '1 ms'`, [ms]);
    });
  let delivered = 0;
  const all = stack.move();
  return {
    database,
    store,
    changes: changesOf(database),
    clone,
    now,
    register,
    registered,
    async create(value: string, { accountId = 'acc_1', key = 'key_1', budget = null }: NewBudgetedRule = {}) {
      const id = newId('rule');
      const values = [{ platform: 'x', value, translatedValue: value }] as const;
      const texts = { name: value, intent: 'test' };
      const { kind } = await store.begin({
        id,
        accountId,
        createdBy: key,
        ...texts,
        expiresAt: null,
        budget,
        premiumRulesMax: 1_000,
        values,
      });
      if (kind !== 'begun') throw new Error(`the rule was refused: ${kind}`);
      await register();
      await store.activate(completionOf({ ...changeBy(accountId), actor: key }, id));
      return id;
    },
    /** Stores this many posts that match the query. */
    async match(value: string, count: number) {
      const rules = [{ upstreamRuleId: `up_${value}`, tag: null }];
      const events = Array.from({ length: count }, () => xEvent(++delivered, { rules }));
      await storeBatch(
        { installation, bells, telemetry, store: createMatchStore(database) },
        events.map((event) => ({
          sequence: delivered,
          event,
          body: '',
          loggedAt: new Date(),
          deliveries: 1,
          ack: () => undefined,
          message: { open: 1 },
          redeliver: () => undefined,
        })),
      );
    },
    /** Moves all matches so far into the past. */
    pass,
    endBurst: () => pass(600_000),
    watch: (ruleBudget: Budget | null = null, on: Database = database) =>
      createBudgetWatch({ ...common, database: on, ruleBudget }),
    notifyUnusualRates: () => notifyUnusualRates({ database, bells }),
    resume: (ruleBudget: Budget | null = null) =>
      resumeAfterBudget({
        ...common,
        database,
        store,
        checkpoint: () => undefined,
        contact: 'us',
        pricing: { prices, ruleBudget },
      }),
    matchesOf: async (ruleId: string) =>
      (await database.one<{ count: number }>('select count(*) from matches where rule_id = $1', [ruleId]))
        ?.count,
    async notices(accountId = 'acc_1'): Promise<Notice[]> {
      const reader = createNoticeReader(database);
      const placed = await reader.read({ accountId, open: false, order: 'oldest', from: null, limit: 100 });
      return placed.map(({ notice }) => notice);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A database whose connection is lost in a transaction, before the statement that contains the text. */
export function dyingAt(
  database: Database,
  statement: string,
  value: string,
  isDying = () => true,
): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction((sql) => {
        const check = (text: string, values: readonly unknown[] = []) => {
          if (isDying() && text.includes(statement) && values.includes(value))
            throw new Error('the node is gone');
        };
        return work({
          many: (text, values) => (check(text, values), sql.many(text, values)),
          one: (text, values) => (check(text, values), sql.one(text, values)),
          prepared: (text, values) => (check(text, values), sql.prepared(text, values)),
          run: (text, values) => (check(text, values), sql.run(text, values)),
        });
      }),
  };
}
