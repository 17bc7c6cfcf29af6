import { onEachPlatform, type Platform, platforms } from '@earshot/contract/platforms';
import { usageFailure } from '../failure.ts';
import { flag, text } from '../options.ts';
import { onPlatforms } from '../platforms.ts';

/** The options that hold the rule itself: `--x`, `--firehose`. */
export const ruleValues = onEachPlatform((platform, { title }) =>
  text('<rule>', `the rule for ${title}, in its own language: earshot syntax ${platform}`),
);

export const acceptDoubts = flag('register the rule as it is, although hardly anybody would mean it');

/** The platforms are those that a rule was typed for. */
export function readOverrides(typed: Readonly<Record<Platform, string | undefined>>) {
  const values = onPlatforms(typed);
  if (values.platforms.length > 0) return values;
  const options = platforms.map((platform) => `--${platform} <rule>`).join(', ');
  throw usageFailure(`Say what to listen for: ${options}, or several of them.`);
}
