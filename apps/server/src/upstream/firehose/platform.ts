import { randomUUID } from 'node:crypto';
import { languages } from '@earshot/query';
import { createUpstreamClient } from '../client.ts';
import type { PlatformDescriptor } from '../platform.ts';
import { atPace, type Protocol, usualProtocol } from '../protocol.ts';
import { matchedAt, readFirehoseUpdate, withoutPageText } from './item.ts';
import { relationsOfPage } from './relations.ts';
import { createFirehoseRules } from './rules.ts';
import { createFirehoseStream } from './stream.ts';

export interface FirehoseSettings {
  readonly firehoseTokens: ReadonlyArray<{ readonly name: string; readonly token: string }>;
  readonly firehoseBaseUrl: string;
  readonly upstreamPace: number;
}

/** Firehose documents no limit. If it refuses more rules, the capacity of a source is lowered. */
const ruleCapacity = 100_000;

/** Firehose ends every stream after 5 minutes and lets it resume, so reconnecting at once has no benefit. */
export const firehoseProtocol: Protocol = {
  ...usualProtocol,
  // 30 are allowed; one every 2.5 s leaves room for attempts of an earlier holder.
  connects: { bucket: 'connect', calls: 24, windowMs: 60_000 },
};

/** Page changes, from the stream of a Firehose token, which resumes after the last event. */
export const firehosePlatform: PlatformDescriptor<FirehoseSettings> = {
  language: languages.firehose,
  tier: () => 'standard',
  ruleType: 'regular',
  needsPaidPlan: true,
  ruleDelayMs: () => 0,
  newRuleId: randomUUID,
  // A quiet stream sends nothing at all; missed events are replayed anyway.
  sendsKeepAlives: false,
  reportsDeletions: false,
  // We assume that `query_ids` is complete (docs/upstreams/firehose.md §7.1). `query_id` is one of several. The flags
  // and lists that withhold a page are not in the event.
  readItem: (sourceId, { text, upstreamId }) => readFirehoseUpdate(sourceId, upstreamId ?? '', text),
  itemTime: matchedAt,
  shortenItem: withoutPageText,
  relationsOf: relationsOfPage,
  postOfUrl: () => null,
  // Replayed items were charged at their first delivery.
  billing: {
    itemKind: 'page',
    cameAlong: () => ({ users: [], posts: [] }),
    chargedAgain: 'never',
    prices: { page: 0.005 },
  },
  // 2 s to notice, 3 s for the call, 10 s to apply it.
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
        // Firehose keeps matches for about a day; an hour less is safe.
        repair: { by: 'replay', keptMs: 23 * 3_600_000, matchedAt },
        compliance: null,
        readUsage: null,
      };
    }),
};
