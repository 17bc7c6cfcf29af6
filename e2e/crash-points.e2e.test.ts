import { checkpoints } from '@earshot/server/checkpoints';
import { eventually } from '@earshot/testkit';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startWorld, tapToken, type World, xToken } from './src/world.ts';

/** What a caller may find after the recovery: a creation that was confirmed, or a deletion that was not. */
const ruleSurvives = new Set(['create.activated', 'delete.begin']);

/** Where the crash leaves the upstream and our records in disagreement: what the recovery has to mend. */
const leavesDamage = new Set([
  'register.added_upstream',
  'register.recorded',
  'create.registered',
  'delete.written',
  'delete.announced',
  'release.marked',
  'release.removed_upstream',
]);

interface Census {
  /** Rules upstream, on both platforms, with our tag. */
  readonly upstream: number;
  /** Rules that a caller sees, counted once per platform. */
  readonly listed: number;
  readonly unsettledSlots: number;
  readonly unconfirmedRules: number;
}

async function takeCensus(world: World): Promise<Census> {
  const x = await world.sandbox.xState(xToken);
  const firehose = await world.sandbox.firehoseState(tapToken);
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    const count = async (sql: string) => Number((await client.query(sql)).rows[0].count);
    return {
      upstream: x.rules.length + firehose.rules.length,
      listed: await count(
        `select count(*) from rules join rule_versions v on v.rule_id = rules.id where state = 'active'`,
      ),
      unsettledSlots: await count(`select count(*) from slots where state <> 'registered'`),
      unconfirmedRules: await count(`select count(*) from rules where state = 'creating'`),
    };
  } finally {
    await client.end();
  }
}

const isConsistent = ({ upstream, listed, unsettledSlots, unconfirmedRules }: Census) =>
  upstream === listed && unsettledSlots === 0 && unconfirmedRules === 0;

/** A creation that is refused on one platform goes through the undoing; all others succeed unless we die. */
async function createThenDelete(world: World, api: Api, label: string): Promise<void> {
  if (label === 'create.abandoned')
    await world.sandbox.arm({ kind: 'rule_refused', platform: 'firehose', count: 1 });
  const { rule_id } = await api.createRule({ x: 'tremor', firehose: 'tremor' });
  await api.deleteRule(rule_id);
}

describe('a crash at any step of a creation or deletion', () => {
  test.concurrent.each(checkpoints)('at %s converges within 60 s', async (label) => {
    await using world = await startWorld();
    const account = await world.newAccount();
    const doomed = await world.startServer({ EARSHOT_CRASH_AT: label });
    await createThenDelete(world, doomed.api(account), label).catch(() => undefined);
    // The fault fired: the process killed itself at the label.
    await doomed.exited;
    expect(await world.serverLog()).not.toContain('earshot is down');
    if (leavesDamage.has(label)) expect(isConsistent(await takeCensus(world))).toBe(false);

    const server = await world.startServer();
    await eventually(async () => expect(await takeCensus(world)).toSatisfy(isConsistent), {
      timeoutMs: 60_000,
    });
    const api = server.api(account);
    const { rules } = await api.listRules();
    expect(rules).toHaveLength(ruleSurvives.has(label) ? 1 : 0);

    // What is listed works; what is not can be made again.
    const rule = rules[0] ?? (await api.createRule({ x: 'tremor', firehose: 'tremor' }));
    await eventually(async () => expect((await world.sandbox.xState(xToken)).connections.open).toBe(1), {
      timeoutMs: 10_000,
    });
    await world.sandbox.posts(['a tremor']);
    await world.sandbox.pages([{ url: 'https://news.example/t', title: 'Shaking', text: 'a tremor' }]);
    const ruleId = 'id' in rule ? rule.id : rule.rule_id;
    await eventually(async () => expect(await api.allMatches({ rule_id: ruleId })).toHaveLength(2), {
      timeoutMs: 20_000,
    });
  });
});
