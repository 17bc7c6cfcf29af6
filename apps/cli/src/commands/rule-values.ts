import { onEachPlatform, type Platform, platforms } from '@earshot/contract/platforms';
import { usageFailure } from '../failure.ts';
import { flag, oneOf, text } from '../options.ts';
import { onPlatforms } from '../platforms.ts';

/** The options that hold the rule itself: `--x`, `--firehose`. */
export const ruleValues = onEachPlatform((platform, { title }) =>
  text('<rule>', `the rule for ${title}, in its own language: earshot syntax ${platform}`),
);

export const acceptSuspicious = flag('register the rule as it is, although it is almost certainly a mistake');

const onOff = ['on', 'off'] as const;

/** What Firehose is told besides the rule. */
export const firehoseOptions = {
  'firehose-quality': oneOf(
    onOff,
    "Firehose's filter of low quality: off also brings URLs with a query and old pages",
  ),
  'firehose-nsfw': oneOf(onOff, 'adult pages from Firehose'),
};

type OnOff = (typeof onOff)[number] | undefined;

/** The `options` of a request, if any was typed. */
export function readOptions(typed: { 'firehose-quality': OnOff; 'firehose-nsfw': OnOff }) {
  const { 'firehose-quality': quality, 'firehose-nsfw': nsfw } = typed;
  if (quality === undefined && nsfw === undefined) return {};
  return {
    options: {
      firehose: {
        ...(quality !== undefined && { quality: quality === 'on' }),
        ...(nsfw !== undefined && { nsfw: nsfw === 'on' }),
      },
    },
  };
}

/** The platforms are those that a rule was typed for. */
export function readOverrides(typed: Readonly<Record<Platform, string | undefined>>) {
  const values = onPlatforms(typed);
  if (values.platforms.length > 0) return values;
  const options = platforms.map((platform) => `--${platform} <rule>`).join(', ');
  throw usageFailure(`Specify at least one of ${options}.`);
}
