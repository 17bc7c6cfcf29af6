import { lengthOf, seededRandom, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { capStream } from '../src/ingest/cap-stream.ts';
import { createInstallationBudget, type InstallationBudget } from '../src/metering/installation-budget.ts';
import { defaultPrices } from '../src/metering/prices.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { StreamEnded, type UpstreamStream } from '../src/upstream/upstream-stream.ts';
import { dyingAt, openBudgetWorld } from './budget-world.ts';
import { createMigratedTemplate } from './support.ts';

/*
 * Caps against upstreams that deliver at random rates, in bursts, and heed a stop late. The upstream is a model here and its time
 * passes in steps (what was matched is made older); what is counted, decided and paused is the product, on PostgreSQL.
 */

const runs = lengthOf({ always: 6, nightly: 200 });
const postUsd = 0.005;
/** What the product assumes that X needs at most. */
const heededWithinS = 70;
/** The product looks every second; here it is late. */
const lookEveryS = 3;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

interface Run {
  /** Matches per second. */
  readonly rate: number;
  readonly burst: { readonly fromS: number; readonly toS: number; readonly rate: number } | null;
  readonly capMatches: number;
  readonly inUsd: boolean;
  /** From the pause to the last post: the call, another holder of the lease, and the upstream's own time. */
  readonly lateS: number;
  /** The node that stops the rule dies while it does. */
  readonly dies: boolean;
}

function randomRun(random: () => number, isSteady: boolean): Run {
  const between = (low: number, high: number) => low + random() * (high - low);
  const rate = 0.01 * 25_000 ** random();
  // Steady ones run for longer than the minute that the rate is taken from.
  const seconds = isSteady ? between(70, 100) : between(1, 90);
  const fromS = between(0, seconds);
  const hasBurst = !isSteady && random() < 0.6;
  return {
    rate,
    burst: hasBurst
      ? { fromS, toS: fromS + between(5, 90), rate: Math.min(250, rate * between(2, 50)) }
      : null,
    capMatches: Math.max(3, Math.ceil(rate * (seconds + heededWithinS))),
    inUsd: random() < 0.5,
    lateS: between(0, 2) + (random() < 0.3 ? 5 : 0) + between(isSteady ? 45 : 0, 55),
    dies: random() < 0.3,
  };
}

const rateAt = ({ rate, burst }: Run, s: number) =>
  burst && s >= burst.fromS && s < burst.toS ? burst.rate : rate;

/** As many as come by chance when so many are expected. */
function poisson(expected: number, random: () => number): number {
  if (expected > 50) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(expected + normal * Math.sqrt(expected)));
  }
  let [count, left] = [-1, 1];
  do {
    count += 1;
    left *= random();
  } while (left > Math.exp(-expected));
  return count;
}

interface Outcome {
  readonly run: Run;
  readonly billed: number;
  /** Matches beyond the cap that were stated as possible. */
  readonly bound: number;
  readonly stored: number | undefined;
  readonly counted: number;
}

type World = Awaited<ReturnType<typeof openBudgetWorld>>;

async function spend(world: World, run: Run, random: () => number, { early = true } = {}): Promise<Outcome> {
  await world.database.run('delete from match_times');
  const value = `value${random()}`;
  const budget = {
    period: 'lifetime',
    on_reached: 'pause',
    ...(run.inUsd ? { usd: run.capMatches * postUsd } : { matches: run.capMatches }),
  } as const;
  const ruleId = await world.create(value, { budget });
  const dying = dyingAt(world.database, 'insert into audit', 'StopForBudget', () => run.dies);
  const nodes = [world.watch(null, dying), world.watch()] as const;
  let [s, counted, nodeIndex] = [0, 0, 0];
  let steppedAt = performance.now();
  let stated = { matches: 0, perSecond: 0 };
  const arrivals: { readonly s: number; readonly count: number }[] = [];
  for (;;) {
    const rate = rateAt(run, s);
    // Where little comes, straight to the next.
    const isRare = rate * lookEveryS < 0.15;
    const stepS = Math.max(lookEveryS, isRare ? -Math.log(1 - random()) / rate : 0);
    // A machine that needs longer for a step would look later than the product does: then time goes back to when it was due.
    const elapsedS = (performance.now() - steppedAt) / 1_000;
    steppedAt = performance.now();
    const count = isRare ? 1 : poisson(rate * stepS, random);
    s += stepS;
    await world.pass((stepS - elapsedS) * 1_000);
    if (count === 0) continue;
    await world.match(value, count);
    counted += count;
    arrivals.push({ s, count });
    const perSecond = arrivals.filter((one) => one.s > s - 60).reduce((sum, one) => sum + one.count, 0) / 60;
    // The last that was stated while the budget was not reached.
    if (counted + perSecond * heededWithinS < run.capMatches) {
      const usd = (await world.store.get('acc_1', ruleId))?.budget?.overshoot_max_usd ?? 0;
      stated = { matches: usd / postUsd, perSecond };
    }
    if (!early) await world.pass(600_000);
    await nodes[nodeIndex % 2]?.().catch(() => {
      nodeIndex += 1;
    });
    if (!early) await world.pass(-600_000);
    if ((await world.store.get('acc_1', ruleId))?.state !== 'paused') continue;

    let billed = counted;
    for (let after = 0; after < run.lateS; after++)
      billed += poisson(rateAt(run, s + after) * Math.min(1, run.lateS - after), random);
    await world.match(value, 1);
    return {
      run,
      billed,
      bound: stated.matches + risingBound(run, s, stated.perSecond),
      stored: await world.matchesOf(ruleId),
      counted,
    };
  }
}

/** What a rate adds that rose above the one that was stated, in the minute before the stop or after. */
function risingBound(run: Run, stoppedS: number, perSecond: number): number {
  const isNew = stoppedS < 60 + lookEveryS;
  const { burst } = run;
  const isInBurst =
    burst !== null && stoppedS + run.lateS >= burst.fromS && stoppedS - 60 - lookEveryS <= burst.toS;
  if (!isNew && !isInBurst) return 0;
  const highest = isInBurst ? Math.max(run.rate, burst.rate) : run.rate;
  return Math.max(0, highest - perSecond) * heededWithinS + 4 * Math.sqrt(highest * heededWithinS) + 1;
}

test(`of ${runs} random rules none is billed beyond its cap and what was stated`, {
  timeout: lengthOf({ always: 240_000, nightly: 2_400_000 }),
}, async () => {
  const seed = lengthOf({ always: 7, nightly: Date.now() % 1_000_000 });
  const random = seededRandom(seed);
  await using world = await openBudgetWorld(template);
  const outcomes: Outcome[] = [];
  for (let index = 0; index < runs; index++)
    outcomes.push(await spend(world, randomRun(random, index % 3 === 0), random));
  const shares = outcomes.map(({ run, billed, bound }) => (billed - run.capMatches) / bound);
  const over = outcomes.filter(({ run, billed }) => billed > run.capMatches).length;
  console.info(
    `seed ${seed}: ${over} of ${runs} above their cap; the worst by ${Math.max(...shares).toFixed(2)} of what was stated`,
  );
  for (const { stored, counted } of outcomes) expect(stored).toBe(counted);
  expect(outcomes.filter(({ run, billed, bound }) => billed > run.capMatches + bound)).toEqual([]);
});

test('without the early stop it is not kept', { timeout: 240_000 }, async () => {
  const random = seededRandom(3);
  await using world = await openBudgetWorld(template);
  const run = { ...randomRun(random, true), rate: 20, burst: null, capMatches: 2_000, lateS: 60 };
  const withIt = await spend(world, run, random);
  expect(withIt.billed).toBeLessThanOrEqual(run.capMatches + withIt.bound);
  const without = await spend(world, run, random, { early: false });
  expect(without.billed).toBeGreaterThan(run.capMatches + without.bound);
});

interface Upstream extends UpstreamStream {
  /** Distinct pages that were delivered, over all connections. */
  billed(): number;
}

/** Pages with ascending numbers; a connection resumes behind the one it names, and ends after so many as it asked for. */
function createPages(random: () => number): Upstream {
  let billed = 0;
  return {
    billed: () => billed,
    async *open({ after, itemsMax = Number.POSITIVE_INFINITY }, signal) {
      for (let sent = 1; sent <= itemsMax; sent++) {
        const number = Number(after ?? 0) + sent;
        if (random() < 0.05) await new Promise(setImmediate);
        if (signal.aborted) throw new StreamEnded({ kind: 'stopped' }, 'stopped');
        billed = Math.max(billed, number);
        yield { kind: 'item', text: '', upstreamId: String(number) };
      }
      throw new StreamEnded({ kind: 'finished' }, 'as many as were asked for');
    },
  };
}

test(`of ${runs} random installations none is sent more pages than its cap pays for`, async () => {
  const random = seededRandom(lengthOf({ always: 11, nightly: Date.now() % 1_000_000 }));
  await using world = await openBudgetWorld(template);
  const used: number[] = [];
  for (let index = 0; index < runs; index++) {
    await world.database.run('delete from source_usage');
    const pagesMax = Math.floor(3 * 300 ** random());
    const upstream = createPages(random);
    let [logged, counted] = [0, 0];
    const count = async (upTo: number) => {
      await world.database.run(
        `insert into source_usage (source_id, day, kind, at_least, at_most)
         values ('firehose:main', (now() at time zone 'UTC')::date, 'page', $1, $1)
         on conflict (source_id, day, kind) do update set at_least = $1, at_most = $1`,
        [upTo],
      );
      counted = upTo;
    };
    const budget: InstallationBudget | null = createInstallationBudget({
      database: world.database,
      prices: defaultPrices(),
      caps: { day: pagesMax * postUsd + 0.001, month: null },
      metrics: createMetrics(),
      uncounted: async () => logged - counted,
      itemUsdMax: postUsd,
      now: () => new Date(),
    });
    if (!budget) throw new Error('there is no budget');
    // Nodes that die, or lose the source, in the middle of what they were sent; the next resumes behind what is in the log.
    for (let connection = 0; connection < 12; connection++) {
      const stream = capStream(upstream, {
        budget,
        itemUsdMax: postUsd,
        sources: async () => 1,
        nowMs: Date.now,
        lookEveryMs: 5,
      });
      const takes = connection < 6 ? Math.floor(random() * pagesMax) : Number.POSITIVE_INFINITY;
      const unlogged = random() < 0.5 ? Math.floor(random() * 5) : 0;
      let taken = 0;
      try {
        for await (const frame of stream.open(
          { after: String(logged), since: null, now: new Date() },
          new AbortController().signal,
        )) {
          if (frame.kind !== 'item') continue;
          if (taken >= takes + unlogged) break;
          if (taken < takes) logged = Number(frame.upstreamId);
          taken += 1;
          if (random() < 0.02) await count(Math.floor(counted + random() * (logged - counted)));
        }
      } catch (error) {
        if (!(error instanceof StreamEnded)) throw error;
      }
      if (random() < 0.5) await count(logged);
    }
    expect(upstream.billed()).toBeLessThanOrEqual(pagesMax);
    used.push(upstream.billed() / pagesMax);
  }
  // It is the cap that ended them, and not that nothing came.
  expect(used.filter((share) => share > 0.5).length).toBeGreaterThan(runs / 2);
});
