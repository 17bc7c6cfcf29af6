import { type Calls, createCalls } from './calls.ts';
import { type ConsumeOptions, consumeMatches } from './consume-matches.ts';
import type { Match, Requests } from './contract-types.ts';
import {
  type FollowedMatches,
  type FollowedNotices,
  type FollowOptions,
  followMatches,
  followNotices,
  type StreamOptions,
} from './follow-matches.ts';
import type { Connection } from './send.ts';

export interface EarshotOptions {
  /** Of the server, such as `https://earshot.example.com`. */
  readonly url: string;
  /** An API key: `esk_…`. Left out, no Authorization is sent: for a page whose requests carry a session. */
  readonly key?: string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** How long a call is tried, unless the call says it. */
  readonly timeoutMs?: number;
}

export interface Earshot extends Calls {
  /** Matches as they come: over the stream, resumed after interruptions, each once. */
  readonly followMatches: (request?: Requests['StreamMatches'], options?: FollowOptions) => FollowedMatches;
  /** Notices as they are raised and resolved: over the stream, resumed after interruptions. */
  readonly followNotices: (request?: Requests['StreamNotices'], options?: StreamOptions) => FollowedNotices;
  /** What a named reader has not acknowledged yet; acknowledged after the loop's body. */
  readonly consumeMatches: (
    request: Omit<Requests['ReadMatches'], 'of'>,
    options?: ConsumeOptions,
  ) => AsyncGenerator<Match, void>;
}

export function createEarshot(options: EarshotOptions): Earshot {
  const { url, key, timeoutMs, fetch: ask = globalThis.fetch } = options;
  // Called without `this`: browsers refuse their own fetch as the method of another object.
  const connection: Connection = { url, key, fetch: (input, init) => ask(input, init) };
  const calls = createCalls(connection, timeoutMs);
  return {
    ...calls,
    followMatches: (request, followOptions) => followMatches(connection, request, followOptions),
    followNotices: (request, streamOptions) => followNotices(connection, request, streamOptions),
    consumeMatches: (request, consumeOptions) => consumeMatches(calls, request, consumeOptions),
  };
}
