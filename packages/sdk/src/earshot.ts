import { type Calls, createCalls } from './calls.ts';
import { type ConsumeOptions, consumeMatches } from './consume-matches.ts';
import type { Match, Requests } from './contract-types.ts';
import { type ExportedFile, type ExportOptions, exportMatches } from './export-matches.ts';
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
  /** URL of the server, such as `https://earshot.example.com`. */
  readonly url: string;
  /** An API key: `esk_…`. Without it, no Authorization header is sent, for browsers with a session. */
  readonly key?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default time limit of calls. */
  readonly timeoutMs?: number;
}

export interface Earshot extends Calls {
  /** Streams new matches, each once, and resumes after interruptions. */
  readonly followMatches: (request?: Requests['StreamMatches'], options?: FollowOptions) => FollowedMatches;
  /** Streams notices as they are raised and resolved, and resumes after interruptions. */
  readonly followNotices: (request?: Requests['StreamNotices'], options?: StreamOptions) => FollowedNotices;
  /** Starts the download of a file. A cut download throws, and is continued with `cursor` and `through`. */
  readonly exportMatches: (
    request: Requests['ExportMatches'],
    options?: ExportOptions,
  ) => Promise<ExportedFile>;
  /** Reads matches with a named reader, and acknowledges each page after the loop has processed it. */
  readonly consumeMatches: (
    request: Omit<Requests['ReadMatches'], 'of'>,
    options?: ConsumeOptions,
  ) => AsyncGenerator<Match, void>;
}

export function createEarshot(options: EarshotOptions): Earshot {
  const { key, timeoutMs, fetch: sendRequest = globalThis.fetch } = options;
  const url = checkedUrl(options.url);
  // Called without `this`, because browsers refuse their own fetch as the method of another object.
  const connection: Connection = { url, key, fetch: (input, init) => sendRequest(input, init) };
  const calls = createCalls(connection, timeoutMs);
  return {
    ...calls,
    followMatches: (request, followOptions) => followMatches(connection, request, followOptions),
    followNotices: (request, streamOptions) => followNotices(connection, request, streamOptions),
    exportMatches: (request, exportOptions) => exportMatches(connection, request, exportOptions),
    consumeMatches: (request, consumeOptions) => consumeMatches(calls, request, consumeOptions),
  };
}

/** Without this check, a missing variable of the environment would look like a server that does not answer. */
function checkedUrl(url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (typeof url === 'string' && parsed && /^https?:$/.test(parsed.protocol)) return url;
  const given = url === undefined || url === '' ? 'It is missing.' : `It is ${JSON.stringify(url)}.`;
  throw new TypeError(
    `The option "url" must be the URL of the server, such as "https://earshot.example.com". ${given}`,
  );
}
