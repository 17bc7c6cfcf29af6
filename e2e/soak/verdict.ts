import { type AnswerOf, type NoticeType, operations } from '@earshot/contract';
import type { Api } from '../src/api.ts';
import { compare, type Gap, type Verdict } from './compare.ts';
import type { Feed } from './feed.ts';

export type SoakedPlatform = 'x' | 'firehose' | 'bluesky';

/** What was sent on a platform, what a caller can list, and the gaps in the ledger. */
export async function verdictOn(
  platform: SoakedPlatform,
  { api, feed, ruleId }: { api: Api; feed: Feed; ruleId: string },
): Promise<Verdict> {
  const listed = await api.allMatches({ rule_id: ruleId, platform });
  const sent = feed.sent[platform];
  const [first] = sent.values();
  const gaps = first ? await gapsSince(first.sentAfter, { api, platform, ruleId }) : [];
  return compare(
    sent,
    listed.map((match) => match.platform_post_id),
    { gaps, isReplayed: platform !== 'x' },
  );
}

/** An answer has a limited number of intervals: the history of hours is read in parts. */
const partMs = 600_000;

async function gapsSince(
  firstMs: number,
  { api, platform, ruleId }: { api: Api; platform: SoakedPlatform; ruleId: string },
): Promise<Gap[]> {
  const gaps: Gap[] = [];
  for (let from = firstMs - 60_000; from < Date.now(); from += partMs) {
    const answer = await api.call('POST', '/api.GetCoverage', {
      rule_id: ruleId,
      platform,
      from: new Date(from).toISOString(),
      to: new Date(from + partMs).toISOString(),
    });
    const { intervals } = answer.json as AnswerOf<'GetCoverage'>;
    for (const { state, from: since, to, reason, repair } of intervals)
      if (state !== 'live' && state !== 'repaired')
        gaps.push({
          from: Date.parse(since),
          to: to === null ? Date.now() : Date.parse(to),
          reason,
          repair: repair && [repair.state, repair.reason].filter(Boolean).join(': '),
        });
  }
  return gaps;
}

/** What the faults cause: disconnected sources. */
const explained: ReadonlySet<NoticeType> = new Set([
  'coverage.gap',
  'coverage.repaired',
  'source.disconnected',
]);

/** All notices of the account, and whether a fault explains each. */
export async function readNotices(api: Api): Promise<{ type: NoticeType; isFalse: boolean }[]> {
  const types: NoticeType[] = [];
  for (let cursor: string | null = null; ; ) {
    const answer = await api.call('POST', '/notices', { limit: 100, ...(cursor && { cursor }) });
    const { notices, next_cursor } = operations.ListNotices.answer.parse(answer.json);
    types.push(...notices.map(({ type }) => type));
    cursor = next_cursor;
    if (cursor === null) return types.map((type) => ({ type, isFalse: !explained.has(type) }));
  }
}
