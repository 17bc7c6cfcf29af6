import { z } from 'zod';
import {
  checkpoints,
  deliveryCheckpoints,
  digestCheckpoints,
  ingestCheckpoints,
} from '../runtime/checkpoint.ts';
import { count } from './values.ts';

const waitMs = z.coerce.number().int().min(0).max(600_000);

/**
 * Switches for tests, benchmarks and the demo, as `EARSHOT_TEST=leaseTtlMs=1500,upstreamPace=100`. The defaults are the production
 * values. No documentation names the switches, and a server that has some logs a warning.
 */
export const testSwitches = z.strictObject({
  /** How many times faster the windows of upstream rate limits pass. */
  upstreamPace: z.coerce.number().min(1).max(10_000).default(1),
  /** The process kills itself at this point. */
  crashAt: z
    .enum([...checkpoints, ...ingestCheckpoints, ...deliveryCheckpoints, ...digestCheckpoints])
    .optional(),
  /** How long the old query of a changed rule stays registered beside the new one. */
  keepOldValueMs: waitMs.default(20_000),
  /**
   * How long X needs to apply a new rule. The rule is covered from then on; a rule that moves to another source stays on its former
   * source until then.
   */
  xRuleDelayMs: waitMs.default(20_000),
  /** Upstream rules of one X app, in place of what the plan allows. */
  xRuleCapacity: count.optional(),
  /** Another node takes over a source if its node has not renewed the lease for this long. */
  leaseTtlMs: z.coerce.number().int().min(500).max(60_000).default(10_000),
  /** Streams that one key may have open on one node. */
  streamsPerKeyMax: count.default(5),
  /** Requests of one account that one node answers at the same time, including those that wait for matches. */
  requestsInFlightMax: count.default(32),
  /** Dollars a day. A tool of /mcp starts a rule with a higher estimate only when the agent's user has agreed. */
  mcpConfirmUsd: z.coerce.number().min(0).default(5),
  /** Webhooks may also go to this machine, by plain HTTP and on any port. */
  allowInsecureWebhooks: z.stringbool().default(false),
});

export type TestSwitches = z.output<typeof testSwitches>;

export const testVariable = 'EARSHOT_TEST';

/** The last of several pairs with the same name counts. */
export function readPairs(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );
}
