import type { Answers, Requests } from '@earshot/sdk';
import { ruleIds } from './rules.ts';
import { ago, now } from './time.ts';

type Coverage = Answers['GetCoverage'];
type Interval = Coverage['intervals'][number];
type Ends = readonly [from: string, to: string | null];

const plain = (platform: Interval['platform'], state: Interval['state'], [from, to]: Ends): Interval => ({
  platform,
  state,
  from,
  to,
  reason: null,
  repair: null,
});

const repaired = (ends: Ends): Interval => ({
  ...plain('x', 'repaired', ends),
  reason: 'dropped',
  repair: {
    state: 'repaired',
    via: 'search',
    reason: null,
    fidelity: ['retweets_missing', 'deleted_posts_missing'],
    matches: 2,
  },
});

const lost = (ends: Ends): Interval => ({
  ...plain('x', 'gap', ends),
  reason: 'stalled',
  repair: { state: 'impossible', via: null, reason: 'search_refused', fidelity: [], matches: null },
});

export function coverageOf({ rule_id, from = ago(1, 'day') }: Requests['GetCoverage']): Coverage {
  const to = new Date(now).toISOString();
  return { from, to, complete_through: ago(2, 'second'), intervals: intervalsOf(rule_id, from, to) };
}

function intervalsOf(ruleId: string | undefined, from: string, to: string): Interval[] {
  if (ruleId === ruleIds.campaign || ruleId === ruleIds.hiring)
    return [plain('x', 'not_watched', [from, to])];
  if (ruleId === ruleIds.launches)
    return [
      plain('x', 'not_watched', [from, ago(12, 'second')]),
      plain('x', 'starting', [ago(12, 'second'), to]),
    ];
  const firehose = [plain('firehose', 'live', [from, to])];
  if (ruleId === ruleIds.advisories)
    return [
      plain('x', 'live', [from, ago(40, 'minute')]),
      { ...plain('x', 'gap', [ago(40, 'minute'), null]), reason: 'no_credit' },
      ...firehose,
    ];
  const x = [
    plain('x', 'live', [from, ago(14, 'hour')]),
    repaired([ago(14, 'hour'), ago(13.4, 'hour')]),
    plain('x', 'live', [ago(13.4, 'hour'), ago(5, 'hour')]),
    lost([ago(5, 'hour'), ago(4.97, 'hour')]),
    plain('x', 'live', [ago(4.97, 'hour'), to]),
  ];
  return ruleId === ruleIds.outage ? x : [...x, ...firehose];
}
