import type { Api } from '../src/api.ts';
import { compare, type Gap, type Verdict } from './compare.ts';
import type { Feed } from './feed.ts';

/** What was sent on a platform, what a caller can list, and the gaps of which the ledger tells. */
export async function verdictOn(
  platform: 'x' | 'firehose',
  { api, feed, ruleId }: { api: Api; feed: Feed; ruleId: string },
): Promise<Verdict> {
  const listed = await api.allMatches({ rule_id: ruleId, platform });
  const { coverage } = await api.matches({ rule_id: ruleId, platform, limit: 1 });
  const gaps: Gap[] = (coverage?.gaps ?? [])
    .filter((gap) => platform === 'x' && !gap.repaired)
    .map((gap) => ({ from: Date.parse(gap.from), to: gap.to === null ? Date.now() : Date.parse(gap.to) }));
  return compare(
    platform === 'x' ? feed.posts : feed.pages,
    listed.map((match) => match.platform_post_id),
    gaps,
  );
}
