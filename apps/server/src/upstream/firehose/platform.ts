import { randomUUID } from 'node:crypto';
import { languages } from '@earshot/query';
import { createUpstreamClient } from '../client.ts';
import type { PlatformDescriptor } from '../platform.ts';
import { atPace, type Protocol, usualProtocol } from '../protocol.ts';
import { matchedAt, readFirehoseUpdate, withoutPageText } from './item.ts';
import { createFirehoseRules } from './rules.ts';
import { createFirehoseStream } from './stream.ts';

export interface FirehoseSettings {
  readonly firehoseTokens: ReadonlyArray<{ readonly name: string; readonly token: string }>;
  readonly firehoseBaseUrl: string;
  readonly upstreamPace: number;
}

/** Firehose documents no limit. A source has fewer when Firehose refuses more. */
const ruleCapacity = 100_000;

/** Firehose ends every stream after five minutes and lets it be resumed, so nothing is gained by reconnecting at once. */
export const firehoseProtocol: Protocol = {
  ...usualProtocol,
  // 30 are allowed; one every 2.5 s leaves room for what a former holder has under way.
  connects: { bucket: 'connect', calls: 24, windowMs: 60_000 },
};

/** Changes of pages, by the stream of a tap, which resumes after the last event. */
export const firehosePlatform: PlatformDescriptor<FirehoseSettings> = {
  language: languages.firehose,
  tier: () => 'standard',
  ruleType: 'regular',
  needsPaidPlan: true,
  ruleDelayMs: () => 0,
  newRuleId: randomUUID,
  // A quiet tap sends nothing at all; what it missed is resumed anyway.
  sendsKeepAlives: false,
  // That `query_ids` is complete is our reading (docs/upstreams/firehose.md §7.1), `query_id` is one of several, and the flags and
  // lists that keep a page back are not in the event.
  readItem: (sourceId, { text, upstreamId }) => readFirehoseUpdate(sourceId, upstreamId ?? '', text),
  shortenItem: withoutPageText,
  // What Firehose replays was charged when it was delivered first.
  billing: {
    itemKind: 'page',
    cameAlong: () => ({ users: [], posts: [] }),
    chargedAgain: 'never',
    prices: { page: 0.005 },
  },
  // 2 s to notice, 3 s for the call, 10 s to heed it.
  stopsWithinMs: 15_000,
  mostAlong: () => ({ users: 0, posts: 0 }),
  openCounts: null,
  openSources: (settings, stack) =>
    settings.firehoseTokens.map(({ name, token }) => {
      const { firehoseBaseUrl: baseUrl, upstreamPace: pace } = settings;
      const client = stack.use(createUpstreamClient({ baseUrl, token, name: 'Firehose' }));
      return {
        id: `firehose:${name}`,
        platform: 'firehose',
        capacity: ruleCapacity,
        rules: createFirehoseRules(client, { pace }),
        stream: createFirehoseStream(client),
        protocol: atPace(firehoseProtocol, pace),
        endStaleConnections: null,
        // Firehose keeps what matched for about a day; an hour less is safe to rely on.
        repair: { by: 'replay', keptMs: 23 * 3_600_000, matchedAt },
        compliance: null,
        readUsage: null,
      };
    }),
};
