import { checkpoints } from '@earshot/server/checkpoints';
import { eventually, lengthOf } from '@earshot/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { askDatabase } from './src/ledger.ts';
import { startWorld, tapToken, type World, xToken } from './src/world.ts';

/** What a caller may find after the recovery: a confirmed creation, or an unconfirmed deletion. */
const ruleSurvives = new Set(['create.activated', 'delete.begin']);

/** An unfinished change is undone, an applied change stays: the version of the rule after the recovery. */
const versionAfter = new Map([
  ['change.written', 1],
  ['change.registered', 1],
  ['change.undone', 1],
  ['change.applied', 2],
  ['pause.written', 2],
]);

/** Labels at which the crash leaves the upstream and our records different: the recovery must repair this. */
const leavesDamage = new Set([
  ...versionAfter.keys(),
  'register.added_upstream',
  'register.recorded',
  'create.registered',
  'delete.written',
  'delete.announced',
  'release.marked',
  'release.removed_upstream',
]);

/** One label of each kind of damage; the other labels run when their guarded code has changed. */
const enough: readonly string[] = [
  'create.registered',
  'change.registered',
  'register.added_upstream',
  'delete.written',
  'release.removed_upstream',
];
const tested = lengthOf<readonly string[]>({
  always: checkpoints.filter((label) => enough.includes(label)),
  nightly: checkpoints,
});

interface Census {
  /** Rules upstream, on both platforms, with our tag. */
  readonly upstream: number;
  /** Rules that a caller sees, counted once per platform. */
  readonly listed: number;
  readonly unsettledSlots: number;
  readonly unconfirmedRules: number;
  readonly unfinishedChanges: number;
}

async function takeCensus(world: World): Promise<Census> {
  const x = await world.sandbox.xState(xToken);
  const firehose = await world.sandbox.firehoseState(tapToken);
  const { rows } = await askDatabase(
    world,
    `select
       (select count(*) from rules join rule_versions v on v.rule_id = rules.id and v.version = rules.version
        where state = 'active')::int as listed,
       (select count(*) from slots where state <> 'registered')::int as "unsettledSlots",
       (select count(*) from rules where state = 'creating')::int as "unconfirmedRules",
       (select count(*) from rules where changing_to is not null)::int as "unfinishedChanges"`,
  );
  return { upstream: x.rules.length + firehose.rules.length, ...rows[0] };
}

const isConsistent = ({ upstream, listed, ...unfinished }: Census) =>
  upstream === listed && Object.values(unfinished).every((count) => count === 0);

/** A refusal on one platform runs the undoing; everything else succeeds unless the server crashes. */
async function runUntilCrash(world: World, api: Api, { label, word }: Life): Promise<void> {
  if (label === 'create.abandoned')
    await world.sandbox.arm({ kind: 'rule_refused', platform: 'firehose', count: 1 });
  const { rule_id } = await api.createRule({ x: word, firehose: word });
  if (versionAfter.has(label)) {
    if (label === 'change.undone')
      await world.sandbox.arm({ kind: 'rule_refused', platform: 'firehose', count: 1 });
    await api.updateRule(rule_id, {
      platforms: ['x', 'firehose'],
      overrides: { x: `${word} lang:en`, firehose: `${word} OR quake` },
    });
    await api.pauseRule(rule_id);
  }
  await api.deleteRule(rule_id);
}

/** Moves times back by half a minute: until then a caller may still wait for a creation or a change. */
async function expireWaits(world: World): Promise<void> {
  const long = `interval '30 s'`;
  await askDatabase(world, `update rules set created_at = created_at - ${long} where state = 'creating'`);
  await askDatabase(
    world,
    `update rules set changing_since = changing_since - ${long} where changing_to is not null`,
  );
}

const shortOverlap = { EARSHOT_TEST: 'keepOldValueMs=500' };

/** Each label has its own word, so that leftovers of another label in the same world do not matter. */
interface Life {
  readonly label: string;
  readonly word: string;
}

const worlds = new AsyncDisposableStack();
const freeWorlds: World[] = [];
afterAll(() => worlds.disposeAsync());

describe("a crash at any step of a rule's life", () => {
  test.concurrent.each(tested)('at %s converges within 60 s', async (label) => {
    // A world that another label has left clean.
    const world = freeWorlds.pop() ?? worlds.use(await startWorld());
    const account = await world.newAccount();
    const word = `tremor${tested.indexOf(label)}`;
    const logBefore = await world.serverLog();
    const doomed = await world.startServer({ EARSHOT_TEST: `${shortOverlap.EARSHOT_TEST},crashAt=${label}` });
    await runUntilCrash(world, doomed.api(account), { label, word }).catch(() => undefined);
    // The fault fired: the process killed itself at the label.
    await doomed.exited;
    expect((await world.serverLog()).slice(logBefore.length)).not.toContain('earshot is down');
    if (leavesDamage.has(label)) expect(isConsistent(await takeCensus(world))).toBe(false);

    await expireWaits(world);
    const server = await world.startServer(shortOverlap);
    await eventually(async () => expect(await takeCensus(world)).toSatisfy(isConsistent), {
      timeoutMs: 60_000,
    });
    const api = server.api(account);
    const { rules } = await api.listRules();
    expect(rules).toHaveLength(ruleSurvives.has(label) || versionAfter.has(label) ? 1 : 0);
    if (versionAfter.has(label)) expect(rules[0]?.version).toBe(versionAfter.get(label));
    if (rules[0]?.state === 'paused') await api.resumeRule(rules[0].id);

    // Listed rules work; other rules can be created again.
    const rule = rules[0] ?? (await api.createRule({ x: word, firehose: word }));
    await eventually(async () => expect((await world.sandbox.xState(xToken)).connections.open).toBe(1), {
      timeoutMs: 10_000,
    });
    await world.sandbox.posts([`a ${word}`]);
    await world.sandbox.pages([{ url: `https://news.example/${word}`, title: 'Shaking', text: `a ${word}` }]);
    const ruleId = rule.id;
    await eventually(async () => expect(await api.allMatches({ rule_id: ruleId })).toHaveLength(2), {
      timeoutMs: 20_000,
    });

    await api.deleteRule(ruleId);
    const nothing = { upstream: 0, listed: 0, unsettledSlots: 0, unconfirmedRules: 0, unfinishedChanges: 0 };
    await eventually(async () => expect(await takeCensus(world)).toEqual(nothing), { timeoutMs: 60_000 });
    await server.stop();
    freeWorlds.push(world);
  });
});
