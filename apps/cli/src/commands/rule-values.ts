import type { Requests } from '@earshot/sdk';
import { usageFailure } from '../failure.ts';
import { text } from '../options.ts';

/** The options that hold the rule itself. */
export const ruleValues = {
  x: text('<rule>', 'the rule for X, in its own language: earshot syntax x'),
  firehose: text('<rule>', 'the rule for Firehose, in its own language: earshot syntax firehose'),
};

/** The platforms are those that a rule was typed for. */
export function readOverrides({
  x,
  firehose,
}: {
  readonly x: string | undefined;
  readonly firehose: string | undefined;
}): Pick<Requests['CreateRule'], 'platforms' | 'overrides'> {
  const overrides = { ...(x !== undefined && { x }), ...(firehose !== undefined && { firehose }) };
  const platforms: Requests['CreateRule']['platforms'] = [];
  if (x !== undefined) platforms.push('x');
  if (firehose !== undefined) platforms.push('firehose');
  if (platforms.length === 0) {
    throw usageFailure('Say what to listen for: --x <rule>, --firehose <rule>, or both.');
  }
  return { platforms, overrides };
}
