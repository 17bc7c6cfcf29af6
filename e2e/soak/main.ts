import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededRandom } from '@earshot/testkit';
import { isWhole, type Verdict } from './compare.ts';
import { fireFaults } from './faults.ts';
import { ruleWord, startFeed } from './feed.ts';
import { type SoakSystem, startSoakSystem } from './system.ts';
import { readNotices, type SoakedPlatform, verdictOn } from './verdict.ts';
import { startWatch } from './watch.ts';

/**
 * Two real servers with three NATS nodes, PostgreSQL and all upstreams, under random faults. At the end, what was sent is
 * compared with what can be listed: the difference must be exactly the gaps of the coverage ledger. With `--watched`,
 * Prometheus evaluates our alerts meanwhile: a critical alert that no fault explains is a failure. So is a notice that no fault explains.
 */
const { values: given } = parseArgs({
  options: {
    hours: { type: 'string' },
    seconds: { type: 'string' },
    rate: { type: 'string', default: '500' },
    seed: { type: 'string' },
    forgetful: { type: 'boolean', default: false },
    watched: { type: 'boolean', default: false },
    alerts: { type: 'string' },
    outage: { type: 'boolean', default: false },
  },
});
const seconds = given.seconds === undefined ? Number(given.hours ?? '0.1667') * 3_600 : Number(given.seconds);
const seed = Number(given.seed ?? Date.now() % 1_000_000);
const startedAt = performance.now();
const sinceStart = (at: number) => ((at - performance.timeOrigin - startedAt) / 1_000).toFixed(1);
const say = (line: string) =>
  process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}\n`);

await using stack = new AsyncDisposableStack();
say(`seed ${seed}: ${given.rate} events/s for ${seconds.toFixed(0)} s`);
const system = await startSoakSystem(stack, { forgetful: given.forgetful });
const { rule_id: ruleId } = await system
  .api()
  .createRule({ x: ruleWord, firehose: ruleWord, bluesky: ruleWord });
const watch = given.watched ? await startWatch(stack, { system, ruleId, alertsFile: given.alerts }) : null;
const feed = startFeed(system.sandbox, Number(given.rate));
const fired = await fireFaults(system, { seconds, random: seededRandom(seed), say, isOutage: given.outage });
await system.sandbox.clearFaults();
say('no more faults: waiting until everything that can come has come');
await sleep(5_000);
await feed.stop();

const verdicts = await untilSettled(system);
for (const [platform, verdict] of Object.entries(verdicts)) {
  say(`${platform}: ${describe(verdict)}`);
  for (const { from, to, reason, repair } of verdict.falseGaps)
    say(
      `${platform}: false gap from ${sinceStart(from)} s to ${sinceStart(to)} s: ${reason}, repair ${repair}`,
    );
}
const { undelivered } = await system.xState();
say(`x: ${undelivered.length} posts were never sent down a stream`);
const byName = Object.entries(Object.groupBy(fired, ({ name }) => name));
say(`faults: ${byName.map(([name, all = []]) => `${all.length} ${name}`).join(', ')}`);
const notices = await readNotices(system.api());
for (const [type, all = []] of Object.entries(Object.groupBy(notices, (one) => one.type)))
  say(`notices: ${all.length} ${type}${all[0]?.isFalse ? ': FALSE' : ''}`);
const falseAlerts = (await watch?.judge({ faults: fired, feed }, say)) ?? [];
const whole = Object.values(verdicts).every(isWhole);
say(whole ? 'whole: the difference is the gaps of the ledger' : 'NOT WHOLE');
const areNoticesTrue = notices.every(({ isFalse }) => !isFalse);
process.exitCode = whole && areNoticesTrue && falseAlerts.length === 0 ? 0 : 1;

/** Queries again while the lists still grow. */
async function untilSettled(soaked: SoakSystem): Promise<Record<SoakedPlatform, Verdict>> {
  for (let before = -1; ; ) {
    const subject = { api: soaked.api(), feed, ruleId };
    const x = await verdictOn('x', subject);
    const firehose = await verdictOn('firehose', subject);
    const bluesky = await verdictOn('bluesky', subject);
    const listed = x.listed + firehose.listed + bluesky.listed;
    if (listed === before) return { x, firehose, bluesky };
    before = listed;
    await sleep(10_000);
  }
}

function describe({ sent, listed, inGaps, lost, doubled, unknown, falseGaps }: Verdict): string {
  return (
    `${sent} sent, ${listed} listed, ${inGaps} in gaps, ${lost.length} lost, ${doubled.length} doubled, ` +
    `${unknown.length} unknown, ${falseGaps.length} false gaps${lost.length > 0 ? `; lost: ${lost.slice(0, 5).join(' ')}` : ''}`
  );
}
