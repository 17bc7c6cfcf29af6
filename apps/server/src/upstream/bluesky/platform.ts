import { randomUUID } from 'node:crypto';
import { languages } from '@earshot/query';
import type { PlatformDescriptor } from '../platform.ts';
import { type Protocol, usualProtocol } from '../protocol.ts';
import { readBlueskyPost, receivedAt } from './item.ts';
import { postOfBlueskyUrl, relationsOfPost } from './relations.ts';
import { createBlueskyRules } from './rules.ts';
import { createBlueskyStream } from './stream.ts';

export interface BlueskySettings {
  readonly blueskyUrl?: string | undefined;
}

const sourceId = 'bluesky:jetstream';
const ruleCapacity = 100_000;
const minuteMs = 60_000;

/** Jetstream documents no limit. */
export const blueskyProtocol: Protocol = {
  ...usualProtocol,
  connects: { bucket: 'connect', calls: 30, windowMs: 5 * minuteMs },
};

/** All posts of Bluesky, from a Jetstream instance. Earshot matches them itself. */
export const blueskyPlatform: PlatformDescriptor<BlueskySettings> = {
  language: languages.bluesky,
  tier: () => 'standard',
  ruleType: 'regular',
  needsPaidPlan: false,
  ruleDelayMs: () => 0,
  newRuleId: randomUUID,
  // Whatever is missed is replayed.
  sendsKeepAlives: false,
  reportsDeletions: true,
  readItem: (source, { text }) => readBlueskyPost(source, text),
  itemTime: receivedAt,
  shortenItem: null,
  relationsOf: relationsOfPost,
  postOfUrl: postOfBlueskyUrl,
  billing: {
    itemKind: 'post',
    cameAlong: () => ({ users: [], posts: [] }),
    chargedAgain: 'never',
    prices: {},
  },
  // A released rule is dropped with the next reading of the rules.
  stopsWithinMs: 5_000,
  mostAlong: () => ({ users: 0, posts: 0 }),
  openCounts: null,
  openSources: ({ blueskyUrl }, _stack, rules) =>
    blueskyUrl === undefined
      ? []
      : [
          {
            id: sourceId,
            platform: 'bluesky',
            capacity: ruleCapacity,
            rules: createBlueskyRules(rules, sourceId),
            stream: createBlueskyStream({ url: blueskyUrl, sourceId, rules }),
            protocol: blueskyProtocol,
            endStaleConnections: null,
            // Instances keep posts for 36 hours; an hour less is safe.
            repair: { by: 'replay', keptMs: 35 * 60 * minuteMs, matchedAt: receivedAt },
            compliance: null,
            readUsage: null,
          },
        ],
};
