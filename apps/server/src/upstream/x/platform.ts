import { randomInt } from 'node:crypto';
import { languages } from '@earshot/query';
import { createUpstreamClient } from '../client.ts';
import type { MostAlong, PlatformDescriptor, Repair } from '../platform.ts';
import { atPace, type Protocol, usualProtocol } from '../protocol.ts';
import { createXCompliance } from './compliance.ts';
import { createXCounts } from './counts.ts';
import { includedWith, readXRecord } from './item.ts';
import { postOfXUrl, relationsOfPost } from './relations.ts';
import { createXRules } from './rules.ts';
import { createXSearch } from './search.ts';
import type { XExpansions, XSettings } from './settings.ts';
import { createEndStaleConnections, createXRecovery, createXStream } from './stream.ts';
import { createReadXUsage } from './usage.ts';

const { waits, reactions } = usualProtocol;

/** X's documented back-off numbers. */
export const xProtocol: Protocol = {
  waits: {
    ...waits,
    network: { grows: 'linear', firstMs: 250, maxMs: 16_000 },
    http: { grows: 'doubling', firstMs: 5_000, maxMs: 320_000 },
  },
  reactions: {
    ...reactions,
    dropped: { ...reactions.dropped, atOnce: true },
    stalled: { ...reactions.stalled, atOnce: true },
  },
  // X allows 50. The rest is for attempts that only X counts: lost answers, earlier holders.
  connects: { bucket: 'connect', calls: 40, windowMs: 15 * 60_000 },
};

/** Upstream rules of one app; X may report a lower limit. */
const capacityOf = { payg: 1_000, enterprise: 25_000, embedding: 25_000 } as const;

const tierOf = { payg: 'standard', enterprise: 'enterprise', embedding: 'embedding' } as const;

/** The most for `full`: a reply that mentions two users, with its author, and the post and user it replies to. */
const alongOf: Readonly<Record<XExpansions, MostAlong>> = {
  none: { users: 0, posts: 0 },
  author: { users: 1, posts: 0 },
  full: { users: 4, posts: 1 },
};

/** X posts, from the filtered stream of an app. It does not resume; missed posts are fetched. */
export const xPlatform: PlatformDescriptor<XSettings> = {
  language: languages.x,
  tier: ({ xPlan }) => tierOf[xPlan],
  ruleType: 'premium',
  needsPaidPlan: false,
  ruleDelayMs: ({ xRuleDelayMs }) => xRuleDelayMs,
  newRuleId: () => `1${eighteenDigits()}`,
  sendsKeepAlives: true,
  reportsDeletions: false,
  readItem: (sourceId, { text }) => readXRecord(sourceId, text),
  itemTime: ({ payload }) => new Date(payload.published_at ?? Number.NaN),
  shortenItem: null,
  relationsOf: relationsOfPost,
  postOfUrl: postOfXUrl,
  billing: {
    itemKind: 'post',
    cameAlong: includedWith,
    chargedAgain: 'daily',
    prices: { post: 0.005, user: 0.01, counts_recent: 0.005, counts_all: 0.01 },
  },
  // 2 s to notice, 8 s for the call if the window is used up, a minute to apply it.
  stopsWithinMs: 70_000,
  mostAlong: ({ xExpansions }) => alongOf[xExpansions],
  openCounts: ({ xTokens, xBaseUrl: baseUrl }, stack) =>
    xTokens.map(({ name, token }) =>
      createXCounts(stack.use(createUpstreamClient({ baseUrl, token, name: 'X' })), `x:${name}`),
    ),
  openSources: (settings, stack) =>
    settings.xTokens.map(({ name, token }) => {
      const client = stack.use(createUpstreamClient({ baseUrl: settings.xBaseUrl, token, name: 'X' }));
      const { xExpansions: expansions, xPlan: plan, xSearchPostsPerDay: postsPerDay } = settings;
      const { upstreamPace: pace } = settings;
      const recovery = plan !== 'payg' ? createXRecovery(client, expansions) : null;
      const search = createXSearch(client, { expansions, archive: settings.xSearch, plan });
      const fetching: Repair = { by: 'fetching', recovery, search, postsPerDay };
      return {
        id: `x:${name}`,
        platform: 'x',
        capacity: settings.xRuleCapacity ?? capacityOf[plan],
        rules: createXRules(client, { pace }),
        stream: createXStream(client, { expansions }),
        protocol: atPace(xProtocol, pace),
        endStaleConnections: createEndStaleConnections(client),
        repair: recovery || postsPerDay > 0 ? fetching : { by: 'nothing' },
        compliance: settings.xCompliance === 'daily' ? createXCompliance(client, { pace }) : null,
        readUsage: createReadXUsage(client),
      };
    }),
};

function eighteenDigits(): string {
  const nine = () => String(randomInt(10 ** 9)).padStart(9, '0');
  return nine() + nine();
}
