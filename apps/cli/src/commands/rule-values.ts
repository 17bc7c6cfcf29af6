import { onEachPlatform, type Platform, platforms } from '@earshot/contract/platforms';
import { usageFailure } from '../failure.ts';
import { flag, oneOf, text } from '../options.ts';
import { onPlatforms } from '../platforms.ts';

/** The options with the queries: `--x`, `--firehose`. */
export const ruleValues = onEachPlatform((platform, { title }) =>
  text('<query>', `query for ${title}: see \`earshot syntax ${platform}\``),
);

export const acceptSuspicious = flag('register the query although it is very likely a mistake');

const onOff = ['on', 'off'] as const;

/** Options of Firehose besides the query. */
export const firehoseOptions = {
  'firehose-quality': oneOf(
    onOff,
    "Firehose's quality filter; off also matches old pages and URLs with a query string",
  ),
  'firehose-nsfw': oneOf(onOff, 'adult pages from Firehose'),
};

type OnOff = (typeof onOff)[number] | undefined;

/** The `options` of a request, if any is given. */
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

/** The `platforms` and `overrides` of a request, from the queries that are given. */
export function readOverrides(typed: Readonly<Record<Platform, string | undefined>>) {
  const queries = onPlatforms(typed);
  if (queries.platforms.length > 0) return queries;
  const options = platforms.map((platform) => `--${platform} <query>`).join(', ');
  throw usageFailure(`Specify at least one of ${options}.`);
}
