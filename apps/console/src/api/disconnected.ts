import type { Match, Rule } from '@earshot/sdk';
import { platforms as allPlatforms } from '../parts/platforms.ts';

export interface Disconnected {
  readonly platform: Match['platform'];
  /** The earliest time since when a rule gets nothing. Null: not recorded. */
  readonly since: string | null;
}

/** The rule itself is the problem, not the connection to the platform. */
const ruleReasons: ReadonlySet<string | null> = new Set(['refused', 'not_registered']);

/** Whether at least one of the rules is received, or `starting` if their platforms do not apply them yet. */
export function receivingState(
  rules: readonly Rule[],
  platform?: Disconnected['platform'],
): 'live' | 'starting' | 'none' {
  const states = rules.flatMap(({ platforms }) =>
    allPlatforms
      .filter((one) => platform === undefined || one === platform)
      .map((one) => platforms[one]?.listening.state),
  );
  return states.includes('live') ? 'live' : states.includes('starting') ? 'starting' : 'none';
}

/** Returns the platforms from which at least one of the rules receives nothing, because a source is disconnected. */
export function disconnectedPlatforms(rules: readonly Rule[]): Disconnected[] {
  const found = new Map<Disconnected['platform'], string | null>();
  for (const { platforms } of rules)
    for (const platform of allPlatforms) {
      const listening = platforms[platform]?.listening;
      if (listening?.state !== 'down' || ruleReasons.has(listening.reason)) continue;
      const times = [found.get(platform), listening.since].flatMap((at) => at ?? []);
      found.set(platform, times.toSorted()[0] ?? null);
    }
  return [...found].map(([platform, since]) => ({ platform, since }));
}
