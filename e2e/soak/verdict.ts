import { operations } from '@earshot/contract';
import type { Api } from '../src/api.ts';
import { compare, type Gap, type Verdict } from './compare.ts';
import type { Feed } from './feed.ts';

/** What was sent on a platform, what a caller can list, and the gaps in the ledger. */
export async function verdictOn(
  platform: 'x' | 'firehose',
  { api, feed, ruleId }: { api: Api; feed: Feed; ruleId: string },
): Promise<Verdict> {
  const listed = await api.allMatches({ rule_id: ruleId, platform });
  const sent = platform === 'x' ? feed.posts : feed.pages;
  const [first] = sent.values();
  const gaps = platform === 'x' && first ? await gapsSince(first.sentAfter, { api, ruleId }) : [];
  return compare(
    sent,
    listed.map((match) => match.platform_post_id),
    gaps,
  );
}

/** An answer has a limited number of intervals: the history of hours is read in parts. */
const partMs = 600_000;

async function gapsSince(firstMs: number, { api, ruleId }: { api: Api; ruleId: string }): Promise<Gap[]> {
  const gaps: Gap[] = [];
  for (let from = firstMs - 60_000; from < Date.now(); from += partMs) {
    const answer = await api.call('POST', '/api.GetCoverage', {
      rule_id: ruleId,
      platform: 'x',
      from: new Date(from).toISOString(),
      to: new Date(from + partMs).toISOString(),
    });
    const { intervals } = operations.GetCoverage.answer.parse(answer.json);
    for (const { state, from: since, to } of intervals)
      if (state !== 'live' && state !== 'repaired')
        gaps.push({ from: Date.parse(since), to: to === null ? Date.now() : Date.parse(to) });
  }
  return gaps;
}
