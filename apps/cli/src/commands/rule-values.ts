import type { Requests } from '@earshot/sdk';
import { usageFailure } from '../failure.ts';
import { text } from '../options.ts';
import { onPlatforms } from '../platforms.ts';

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
  const values = onPlatforms({ ...(x !== undefined && { x }), ...(firehose !== undefined && { firehose }) });
  if (values.platforms.length === 0) {
    throw usageFailure('Say what to listen for: --x <rule>, --firehose <rule>, or both.');
  }
  return values;
}
