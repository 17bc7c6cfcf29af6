import { platforms as platformNames } from '@earshot/contract';
import { itemPrice } from '../billing/prices.ts';
import type { CapStreamOptions } from '../budgets/cap-stream.ts';
import { createInstallationBudget, type InstallationBudget } from '../budgets/installation-budget.ts';
import type { Config } from '../config/config.ts';
import type { CountItemsOptions } from '../estimates/count-items.ts';
import { createEventLog, type EventLog } from '../event-log/event-log.ts';
import { createMatchProgress } from '../event-log/log-progress.ts';
import { createSourceStore } from '../ingest/source-store.sql.ts';
import type { Tiers } from '../language/rule-language.ts';
import { createLocalRules } from '../slots/local-rules.sql.ts';
import type { Source } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';
import type { Shared } from './shared.ts';

/** The sources of all platforms, one per configured credential, recorded for all nodes. */
export async function openSources(shared: Shared, stack: AsyncDisposableStack): Promise<Source[]> {
  const { config, database } = shared;
  const rules = createLocalRules(shared);
  const sources = Object.values(platforms).flatMap((platform) => platform.openSources(config, stack, rules));
  const { drainSources } = config;
  await createSourceStore(database).announce(
    sources.map((source) => ({
      ...source,
      draining: drainSources.includes(source.id),
      accountShare: config.accountSharePercent / 100,
      ruleDelayMs: platforms[source.platform].ruleDelayMs(config),
    })),
  );
  return sources;
}

/** A source to drain for which this node has no token: only the database knows it. */
export interface SourceWithoutToken {
  readonly id: string;
  readonly ruleDelayMs: number;
}

/** Sources to drain that are not among the configured ones. */
export async function drainWithoutTokens(
  { config, database, log }: Shared,
  sources: readonly Source[],
): Promise<SourceWithoutToken[]> {
  const missing = config.drainSources.filter((id) => !sources.some((source) => source.id === id));
  const drained = await createSourceStore(database).drain(missing);
  const unknown = missing.filter((id) => !drained.includes(id));
  if (unknown.length > 0) log.warn({ unknown }, 'EARSHOT_DRAIN_SOURCES names sources that do not exist');
  return Object.entries(platforms).flatMap(([name, platform]) =>
    drained
      .filter((id) => id.startsWith(`${name}:`))
      .map((id) => ({ id, ruleDelayMs: platform.ruleDelayMs(config) })),
  );
}

export function tiersOf(config: Config): Tiers {
  return Object.fromEntries(Object.entries(platforms).map(([id, platform]) => [id, platform.tier(config)]));
}

/** Caps the bills of all sources, if the operator has set a cap. */
export function installationBudgetOf({
  config,
  database,
  clock,
  metrics,
  nats,
}: Shared): InstallationBudget | null {
  const { prices, budget: caps } = config;
  const progress = createMatchProgress(nats);
  const itemPrices = platformNames.map((platform) => itemPrice(prices, config, platform).max);
  return createInstallationBudget({
    database,
    metrics,
    prices,
    caps,
    async uncounted() {
      // In this order: events that are matched in the meantime are counted twice rather than not at all.
      const matched = await progress.matched();
      return Math.max(0, (await progress.logged()) - matched);
    },
    itemUsdMax: Math.max(...itemPrices),
    now: () => new Date(clock.nowMs()),
  });
}

/** With an installation budget, each message has one event: the cap counts the messages that are not matched yet. */
export function openEventLog(
  { nats, traces, appendWatch: watch }: Shared,
  budget: InstallationBudget | null,
): EventLog {
  return createEventLog(nats, { traces, watch, packs: budget === null });
}

/** The limits of a source's stream. */
export function cappingOf(
  { config, database, clock }: Shared,
  { platform }: Source,
  budget: InstallationBudget,
): CapStreamOptions {
  return {
    budget,
    itemUsdMax: itemPrice(config.prices, config, platform).max,
    sources: () => createSourceStore(database).countEnabled(),
    nowMs: clock.nowMs,
  };
}

/** The requests that estimates send to the platforms, and their cost. */
export function countingOf(
  config: Config,
  stack: AsyncDisposableStack,
): Pick<CountItemsOptions, 'counts' | 'prices'> {
  const counts = Object.entries(platforms).flatMap(([id, { openCounts }]) =>
    openCounts ? [[id, openCounts(config, stack)] as const] : [],
  );
  return {
    counts: Object.fromEntries(counts),
    prices: config.prices,
  };
}
