import type { Answers, Requests } from '@earshot/sdk';
import { audit, keys, notices, session, sources, usageOf } from './account.ts';
import { coverageOf } from './coverage.ts';
import { createdFeed, feeds } from './feeds.ts';
import { countsOf, matches, olderMatch } from './matches.ts';
import { muted, mutes, relevance } from './relevance.ts';
import { releaseValue, rules } from './rules.ts';
import { listStories } from './stories.ts';
import { ago } from './time.ts';
import { deliveriesOf, webhookId, webhooks } from './webhooks.ts';

/** The answers of the server for the pictures, by path. */
export type FixedAnswers = Readonly<Record<string, Answer>>;
type Answer = ((request: never) => object) | 'never' | 'failure' | 'not_found';

const answer = <Name extends keyof Answers>(_: Name, make: (request: never) => Answers[Name]): Answer => make;

const sessionAnswer = { '/console/session': () => session };

export const fullAnswers: FixedAnswers = {
  ...sessionAnswer,
  '/api.ListRules': answer('ListRules', () => ({ rules: [...rules], next_cursor: null })),
  '/api.GetRule': answer('GetRule', ({ rule_id }: { rule_id: string }) => {
    const found = rules.find(({ id }) => id === rule_id);
    if (!found) throw new Error(`no picture has ${rule_id}`);
    return found;
  }),
  '/api.CountMatches': answer('CountMatches', countsOf),
  '/api.GetRelevance': answer('GetRelevance', () => relevance),
  '/api.ListMutes': answer('ListMutes', () => ({ mutes: [...mutes], next_cursor: null })),
  '/api.MuteMatches': answer('MuteMatches', () => muted),
  '/api.GetMatch': answer('GetMatch', () => olderMatch),
  '/api.GetCoverage': answer('GetCoverage', coverageOf),
  '/api.GetUsage': answer('GetUsage', usageOf),
  '/api.ListSources': answer('ListSources', () => ({ sources })),
  '/api.ListKeys': answer('ListKeys', () => ({ keys, next_cursor: null })),
  '/api.ListAudit': answer('ListAudit', () => ({ entries: audit, next_cursor: null })),
  '/api.ListWebhooks': answer('ListWebhooks', () => ({ webhooks: [...webhooks], next_cursor: null })),
  '/api.ListFeeds': answer('ListFeeds', () => ({ feeds: [...feeds], next_cursor: null })),
  '/api.CreateFeed': answer('CreateFeed', () => createdFeed),
  '/api.ListDeliveries': answer(
    'ListDeliveries',
    ({ outcome }: Parameters<typeof deliveriesOf>[0] & object) => ({
      deliveries: [...deliveriesOf(outcome)],
      next_cursor: null,
    }),
  ),
  '/api.TestWebhook': answer('TestWebhook', () => ({
    webhook_id: webhookId,
    outcome: 'refused',
    status: 401,
    latency_ms: 71,
    message: null,
    response: '{"error":"signature does not match"}',
  })),
  '/api.PreviewRule': answer('PreviewRule', () => preview),
  '/matches': answer('ListMatches', (request: Requests['ListMatches'] & object) => ({
    matches: [...(listStories(request) ?? matches)],
    hidden: { muted: 30, not_relevant: 7 },
    next_cursor: null,
    coverage: null,
  })),
  '/notices': answer('ListNotices', ({ open }: { open?: true }) => ({
    notices: notices.filter(({ resolved_at }) => open !== true || resolved_at === null),
    next_cursor: null,
  })),
};

const noMatches = answer('ListMatches', () => ({ matches: [], next_cursor: null, coverage: null }));

export const emptyAnswers: FixedAnswers = {
  ...fullAnswers,
  '/api.ListRules': answer('ListRules', () => ({ rules: [], next_cursor: null })),
  '/api.GetRule': 'not_found',
  '/api.GetMatch': 'not_found',
  '/api.CountMatches': answer('CountMatches', ({ from, to, step }: Answers['CountMatches']) => ({
    from,
    to,
    step,
    series: [],
  })),
  '/api.GetCoverage': answer('GetCoverage', ({ from }: { from: string }) => ({
    from,
    to: ago(0, 'second'),
    complete_through: null,
    intervals: [],
  })),
  '/api.GetUsage': answer('GetUsage', () => ({
    usage: [],
    total: {
      matches: 0,
      resources: { posts: 0, referenced_posts: 0, users: 0, pages: 0 },
      usd: { min: 0, max: 0 },
    },
    prices_as_of: '2026-08-22',
  })),
  '/api.ListSources': answer('ListSources', () => ({ sources: [] })),
  '/api.ListAudit': answer('ListAudit', () => ({ entries: [], next_cursor: null })),
  '/api.ListWebhooks': answer('ListWebhooks', () => ({ webhooks: [], next_cursor: null })),
  '/api.ListFeeds': answer('ListFeeds', () => ({ feeds: [], next_cursor: null })),
  '/matches': noMatches,
  '/notices': answer('ListNotices', () => ({ notices: [], next_cursor: null })),
};

/** A key that can only read. */
export const readOnlyAnswers: FixedAnswers = {
  ...fullAnswers,
  '/console/session': () => ({ ...session, scopes: ['rules:read', 'matches:read'] }),
};

const onlySession = (answer: Answer): FixedAnswers =>
  Object.fromEntries(
    Object.entries(fullAnswers).map(([path, known]) => [path, path in sessionAnswer ? known : answer]),
  );

export const waitingAnswers = onlySession('never');
export const failingAnswers = onlySession('failure');

/** A rule that receives and has no matches. */
export const silentAnswers: FixedAnswers = {
  ...fullAnswers,
  '/api.CountMatches': emptyAnswers['/api.CountMatches'] ?? 'failure',
  '/matches': noMatches,
};

const preview: Answers['PreviewRule'] = {
  platforms: {
    x: {
      translated_value: releaseValue,
      warnings: [],
      estimate: {
        matches_per_day: { average: 120, busiest: 171, days: 7 },
        busiest_hour: { starts_at: ago(29, 'hour'), matches: 31 },
        usd_per_day: { min: 0.6, max: 1.8 },
        usd_per_month: { min: 18, max: 54 },
        basis: 'history',
        bound: null,
        basis_note: 'The matches of your rule with this query in the last 7 days.',
        fee_usd: 0,
      },
      sample: {
        evaluated: 1_043,
        stored: 1_043,
        is_sampled: false,
        matched: 840,
        undecided: 3,
        matches: matches.filter(({ platform }) => platform === 'x').slice(0, 3),
      },
      against: { added: 14, removed: 203, undecided: 0, is_estimate: false },
    },
  },
};
