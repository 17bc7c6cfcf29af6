import type { Answers, Notice, Requests } from '@earshot/sdk';
import { ruleIds } from './rules.ts';
import { ago, ahead, dayAgo } from './time.ts';

const scopes = [
  'rules:read',
  'rules:write',
  'matches:read',
  'matches:label',
  'readers:write',
  'keys:write',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
] as const;

const ownKey = 'key_01kb2n0a4c7q5t8w3y6z1v0n2p';
const otherKey = 'key_01kb2n0a4c7q5t8w3y6z1v0n3q';

/** The answer of `GET /console/session`. */
export const session = {
  account_id: 'acc_01kb2n0a4c7q5t8w3y6z1v0n2p',
  account_name: 'Acme Listening',
  key_id: ownKey,
  scopes,
  expires_at: ahead(12, 'hour'),
};

export const keys: Answers['ListKeys']['keys'] = [
  {
    id: otherKey,
    name: 'Research agent',
    display: 'esk_8tGb…Qw1z',
    scopes: ['rules:read', 'matches:read'],
    created_at: ago(2, 'day'),
    expires_at: ahead(90, 'day'),
    budget: { period: 'day', usd: 10, on_reached: 'pause' },
    last_used_at: null,
    client: null,
  },
  {
    id: ownKey,
    name: null,
    display: 'esk_4f9K…x2Lq',
    scopes: [...scopes],
    created_at: ago(6, 'day'),
    expires_at: null,
    budget: null,
    last_used_at: ago(1, 'minute'),
    client: null,
  },
];

const platformMessage = 'X answered 402: CreditsDepleted';

export const sources: Answers['ListSources']['sources'] = [
  {
    platform: 'x',
    name: 'main',
    state: 'no_credit',
    since: ago(40, 'minute'),
    received_until: ago(40, 'minute'),
    what_to_do: 'Add credit to the upstream account. It is retried automatically.',
    message: platformMessage,
  },
  {
    platform: 'x',
    name: 'second',
    state: 'reconnecting',
    since: ago(4, 'second'),
    received_until: ago(5, 'second'),
    what_to_do: 'Nothing: Earshot reconnects automatically.',
  },
  {
    platform: 'firehose',
    name: 'main',
    state: 'live',
    since: ago(6, 'day'),
    received_until: ago(1, 'second'),
    what_to_do: 'Nothing.',
  },
];

const notice = (id: number, differs: Omit<Notice, 'id'>): Notice => ({
  id: `ntc_01kb2n0a4c7q5t8w3y6z1v0n${id}p`,
  ...differs,
});

export const notices: readonly Notice[] = [
  notice(1, {
    type: 'source.action_required',
    severity: 'critical',
    subject: { kind: 'source', id: 'x:main', name: 'main' },
    data: { platform: 'x', state: 'no_credit', message: platformMessage },
    what_to_do:
      'Earshot receives no matches from X until the operator acts: Add credit to the upstream account. It is retried automatically.',
    created_at: ago(40, 'minute'),
    resolved_at: null,
  }),
  notice(2, {
    type: 'budget.threshold',
    severity: 'warning',
    subject: { kind: 'rule', id: ruleIds.outage, name: 'Outages of our service' },
    data: { period: 'month', usd: 60, spent: 52.4 },
    what_to_do: '87% of the budget of this month is spent. Raise the budget, or narrow the rule.',
    created_at: ago(6, 'hour'),
    resolved_at: null,
  }),
  notice(3, {
    type: 'alert.spike',
    severity: 'warning',
    subject: { kind: 'rule', id: ruleIds.release, name: 'Rust release chatter' },
    data: {
      platform: 'x',
      expected: 4.1,
      got: 120,
      window: '1h',
      p: 2e-9,
      since: ago(2, 'day'),
      top_words: ['cargo', 'borrow', 'checker'],
      top_domains: [],
      sample_match_ids: [],
      usd_per_hour: 0.6,
    },
    what_to_do:
      'The rule got 120 matches from X in an hour; about 4.1 are usual at this time of the week. At this rate, its items cost about $0.60 an hour. Read the newest matches. If you do not want them, narrow the rule.',
    created_at: ago(2, 'day'),
    resolved_at: null,
  }),
  notice(4, {
    type: 'coverage.repaired',
    severity: 'info',
    subject: { kind: 'platform', id: 'x', name: 'x' },
    data: { platform: 'x' },
    what_to_do: 'Nothing: the missed matches were fetched, without reposts.',
    created_at: ago(14, 'hour'),
    resolved_at: ago(13, 'hour'),
  }),
];

const usd = (matches: number) => ({ min: matches * 0.005, max: matches * 0.0125 });
const figures = (matches: number, platform: 'x' | 'firehose') => ({
  platform,
  matches,
  resources:
    platform === 'x'
      ? { posts: matches, referenced_posts: Math.round(matches / 4), users: matches, pages: 0 }
      : { posts: 0, referenced_posts: 0, users: 0, pages: matches },
  usd: platform === 'x' ? usd(matches) : { min: 0, max: 0 },
});

export function usageOf({ by }: Requests['GetUsage']): Answers['GetUsage'] {
  const usage =
    by === 'rule'
      ? [
          { rule_id: ruleIds.outage, ...figures(1_412, 'x') },
          { rule_id: ruleIds.release, ...figures(812, 'x') },
          { rule_id: ruleIds.release, ...figures(240, 'firehose') },
          { rule_id: ruleIds.hiring, ...figures(160.5, 'x') },
          { rule_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n8v', ...figures(12, 'x') },
        ]
      : Array.from({ length: 24 }, (_, day) => ({
          day: dayAgo(23 - day),
          ...figures(40 + ((day * 37) % 90) + (day === 17 ? 320 : 0), 'x'),
        }));
  const matches = usage.reduce((sum, one) => sum + one.matches, 0);
  const { platform: _, ...total } = figures(Math.round(matches), 'x');
  return { usage, total, prices_as_of: '2026-08-22' };
}

export const audit: Answers['ListAudit']['entries'] = [
  {
    id: 'aud_01kb2n0a4c7q5t8w3y6z1v0n2p',
    created_at: ago(12, 'second'),
    actor: ownKey,
    operation: 'CreateRule',
    target_id: ruleIds.launches,
    before: null,
    after: {
      name: 'Competitor launches',
      state: 'active',
      platforms: { x: { value: 'from:competitor launch' } },
    },
    request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg',
  },
  {
    id: 'aud_01kb2n0a4c7q5t8w3y6z1v0n3p',
    created_at: ago(5, 'hour'),
    actor: 'earshot',
    operation: 'PauseRule',
    target_id: ruleIds.hiring,
    before: { name: 'Engineers who look for work', state: 'active' },
    after: { name: 'Engineers who look for work', state: 'paused' },
    request_id: null,
  },
  {
    id: 'aud_01kb2n0a4c7q5t8w3y6z1v0n4p',
    created_at: ago(2, 'day'),
    actor: otherKey,
    operation: 'UpdateRule',
    target_id: ruleIds.release,
    before: { name: 'Rust release chatter', version: 1, platforms: { x: { value: '"rust 2027" release' } } },
    after: {
      name: 'Rust release chatter',
      version: 2,
      platforms: { x: { value: '"rust 2027" (broke OR release) -is:retweet' } },
    },
    request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fh',
  },
  {
    id: 'aud_01kb2n0a4c7q5t8w3y6z1v0n5p',
    created_at: ago(2, 'day'),
    actor: ownKey,
    operation: 'CreateKey',
    target_id: otherKey,
    before: null,
    after: { display: 'esk_8tGb…Qw1z', scopes: ['rules:read', 'matches:read'] },
    request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fj',
  },
];
