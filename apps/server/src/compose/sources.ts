import type { Platform } from '@earshot/contract';
import type { Config } from '../config.ts';
import type { CountItemsOptions } from '../costs/count-items.ts';
import { createSourceStore } from '../ingest/source-store.sql.ts';
import type { Tiers } from '../language/rule-language.ts';
import type { Source } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';
import type { Shared } from './shared.ts';

/** The sources of all platforms, one per configured credential, made known to all nodes. */
export async function openSources(shared: Shared, stack: AsyncDisposableStack): Promise<Source[]> {
  const { config, database, log } = shared;
  const sources = Object.values(platforms).flatMap((platform) => platform.openSources(config, stack));
  const { drainSources } = config;
  const unknown = drainSources.filter((id) => !sources.some((source) => source.id === id));
  if (unknown.length > 0) log.warn({ unknown }, 'sources to drain that this node does not have');
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

/** How long after its registration each platform heeds a rule. */
export function ruleDelaysMs(config: Config): Readonly<Partial<Record<Platform, number>>> {
  return Object.fromEntries(
    Object.entries(platforms).map(([id, platform]) => [id, platform.ruleDelayMs(config)]),
  );
}

export function tiersOf(config: Config): Tiers {
  return Object.fromEntries(Object.entries(platforms).map(([id, platform]) => [id, platform.tier(config)]));
}

/** What estimates ask of the platforms, and what that costs. */
export function countingOf(
  config: Config,
  stack: AsyncDisposableStack,
): Pick<CountItemsOptions, 'counts' | 'countsPerDay' | 'prices'> {
  const counts = Object.entries(platforms).flatMap(([id, { openCounts }]) =>
    openCounts ? [[id, openCounts(config, stack)] as const] : [],
  );
  return {
    counts: Object.fromEntries(counts),
    countsPerDay: config.xCountsPerDay,
    prices: config.prices,
  };
}
