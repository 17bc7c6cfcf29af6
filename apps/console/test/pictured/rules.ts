import type { Rule } from '@earshot/sdk';
import { ago, ahead } from './time.ts';

type RulePlatform = NonNullable<Rule['platforms']['x']>;
type Budget = NonNullable<Rule['effective_budget']>;

export const ruleIds = {
  release: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
  outage: 'rule_01kb2m9x4c7q5t8w3y6z1v0n3q',
  advisories: 'rule_01kb2m9x4c7q5t8w3y6z1v0n4r',
  launches: 'rule_01kb2m9x4c7q5t8w3y6z1v0n5s',
  hiring: 'rule_01kb2m9x4c7q5t8w3y6z1v0n6t',
  campaign: 'rule_01kb2m9x4c7q5t8w3y6z1v0n7u',
} as const;

export const releaseValue = '"rust 2027" (broke OR release) -is:retweet';

const onX = (value: string, differs: Partial<RulePlatform> = {}): RulePlatform => ({
  platform_rule_id: '1989471234567890123',
  value,
  translated_value: value,
  status: 'active',
  listening: { state: 'live', reason: null, since: ago(6, 'day') },
  rule_type: 'premium',
  last_match_at: ago(3, 'minute'),
  match_count: 812,
  ...differs,
});

const onFirehose = (value: string, differs: Partial<RulePlatform> = {}): RulePlatform =>
  onX(value, { platform_rule_id: '48213', rule_type: 'regular', match_count: 240, ...differs });

const paused: Partial<RulePlatform> = {
  platform_rule_id: '',
  status: 'paused',
  listening: { state: 'paused', reason: null, since: null },
};

function budget(differs: Partial<Budget>): Pick<Rule, 'budget' | 'effective_budget'> {
  const { spent, remaining, resets_at, reserved, forecast, ...terms }: Budget = {
    period: 'day',
    usd: 5,
    on_reached: 'pause',
    spent: 1.86,
    remaining: 3.14,
    resets_at: ahead(9, 'hour'),
    reserved: 0.0175,
    forecast: 2.98,
    ...differs,
  };
  return { budget: terms, effective_budget: { ...terms, spent, remaining, resets_at, reserved, forecast } };
}

const rule = (id: string, name: string, differs: Partial<Rule>): Rule => ({
  id,
  name,
  intent: 'Find out about it before customers write to us.',
  created_at: ago(6, 'day'),
  updated_at: ago(2, 'day'),
  version: 1,
  state: 'active',
  expires_at: null,
  budget: null,
  effective_budget: null,
  pause: null,
  examples: null,
  relevance: null,
  alerts: 'medium',
  managed_by: null,
  platforms: {},
  ...differs,
});

export const rules: readonly Rule[] = [
  rule(ruleIds.release, 'Rust release chatter', {
    intent: 'Follow new Rust releases and the problems that people have with them.',
    ...budget({}),
    examples: {
      must_match: [{ platform: 'x', payload: { text: 'The Rust 2027 release is out' } }],
      must_not_match: [{ platform: 'x', payload: { text: 'How to get rust off a 2027 model' } }],
    },
    relevance: {
      judge: true,
      criteria: ['Names the release, or a problem with it'],
      accept_unproven: false,
      usd_per_day: null,
    },
    platforms: {
      x: onX(releaseValue),
      firehose: onFirehose('added:"rust 2027" AND added:"release"', { last_match_at: ago(41, 'minute') }),
    },
  }),
  rule(ruleIds.outage, 'Outages of our service', {
    ...budget({ period: 'month', usd: 60, spent: 52.4, remaining: 7.6, resets_at: ahead(16, 'day') }),
    platforms: {
      x: onX('(acme OR "acme cloud") (down OR outage) lang:en', { last_match_at: ago(2, 'hour') }),
    },
  }),
  rule(
    ruleIds.advisories,
    'Security advisories for what we depend on, in every language that is spoken here',
    {
      platforms: {
        x: onX('("security advisory" OR CVE) (postgres OR nats)', {
          listening: { state: 'down', reason: 'no_credit', since: ago(40, 'minute') },
          last_match_at: ago(1, 'day'),
        }),
        firehose: onFirehose('added:"security advisory" AND added:"postgres"'),
      },
    },
  ),
  rule(ruleIds.launches, 'Competitor launches', {
    created_at: ago(12, 'second'),
    ...budget({ usd: undefined, matches: 1_000, spent: 0, remaining: 1_000, on_reached: 'notify' }),
    platforms: {
      x: onX('from:competitor launch', {
        listening: { state: 'starting', reason: null, since: ahead(8, 'second') },
        last_match_at: null,
        match_count: 0,
      }),
    },
  }),
  rule(ruleIds.hiring, 'Engineers who look for work', {
    state: 'paused',
    ...budget({ usd: 2, spent: 2, remaining: 0 }),
    pause: { reason: 'budget', resumes_at: ahead(9, 'hour') },
    platforms: { x: onX('"open to work" typescript', { ...paused, last_match_at: ago(5, 'hour') }) },
  }),
  rule(ruleIds.campaign, 'Autumn campaign', {
    state: 'paused',
    expires_at: ago(3, 'day'),
    pause: { reason: 'expired', resumes_at: null },
    platforms: { x: onX('#autumnlaunch', { ...paused, last_match_at: ago(3, 'day') }) },
  }),
];
