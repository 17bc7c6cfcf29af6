import { describe, expect, test } from 'vitest';
import { languages, type Platform } from '../src/index.ts';

/** `everything`: suspicious. `broad`: warned of. `narrow`: nothing is said. */
const rows: readonly (readonly [platform: Platform, rule: string, breadth: string])[] = [
  ['x', 'bitcoin', 'broad'],
  ['x', 'bitcoin lang:en -is:retweet', 'broad'],
  ['x', 'bitcoin OR "spot etf"', 'broad'],
  ['x', 'bitcoin etf', 'narrow'],
  ['x', '"spot etf"', 'narrow'],
  ['x', 'bitcoin min_followers:10000', 'narrow'],
  ['x', 'bitcoin sample:1', 'narrow'],
  ['x', '(bitcoin OR btc) (etf OR fund)', 'narrow'],
  ['x', 'from:openai', 'narrow'],
  ['x', '#AI', 'broad'],
  ['x', 'url:https', 'everything'],
  ['x', 'followers_count:10', 'everything'],
  ['firehose', 'solar', 'broad'],
  ['firehose', 'solar AND language:"en"', 'broad'],
  ['firehose', 'solar AND page_category:"/News"', 'narrow'],
  ['firehose', 'solar AND storage', 'narrow'],
  ['firehose', 'solar AND NOT storage', 'broad'],
  ['firehose', '"heat pump"', 'narrow'],
  ['firehose', '"the pump"', 'broad'],
  ['firehose', 'domain:"acme.com"', 'narrow'],
  ['firehose', 'url:*pricing*', 'narrow'],
  ['firehose', 'url:https*', 'everything'],
  ['firehose', 'domain:*.com', 'everything'],
  ['firehose', '"heat pump" OR language:"en"', 'everything'],
  ['firehose', 'dr:[50 TO *] AND page_category:"/News"', 'broad'],
];

const severities = { everything: 'suspicious', broad: 'warning', narrow: undefined } as const;

describe('how broad a rule is', () => {
  test.each(rows)('%s: %s is %s', (platform, rule, breadth) => {
    const { diagnostics } = languages[platform].validate(rule);
    const found = diagnostics.find(({ code }) => code === 'broad_rule');
    expect(found?.severity).toBe(Object.entries(severities).find(([name]) => name === breadth)?.[1]);
  });
});
