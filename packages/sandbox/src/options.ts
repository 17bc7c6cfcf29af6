import type { TapOptions } from './firehose/tap.ts';
import type { TlsOptions } from './http/tls-front.ts';
import type { XAppOptions } from './x/app.ts';

export const defaultXToken = 'sandbox-x-token';
export const defaultTapToken = 'fh_sandbox';
export const defaultManagementKey = 'fhm_sandbox';

export interface FeedRates {
  readonly postsPerSecond: number;
  readonly pagesPerSecond: number;
}

export interface SandboxOptions {
  /** The address to listen on. Every client that reaches it controls the sandbox. Default 127.0.0.1. */
  readonly host?: string;
  /** 0 takes a free port. Default 0. */
  readonly port?: number;
  /** Also by TLS on another port, in HTTP/2 or HTTP/1.1. Default not. */
  readonly tls?: TlsOptions;
  /** How many times faster than documented the periods of the services pass. Default 1. */
  readonly speed?: number;
  /** Default: one app with defaultXToken. */
  readonly xApps?: readonly XAppOptions[];
  /** Default: one tap with defaultTapToken. */
  readonly taps?: readonly TapOptions[];
  readonly managementKey?: string;
  /** Real time until a rule change reaches an open X stream. Default 2000 / speed. */
  readonly ruleDelayMs?: number;
  /** Unsent bytes at which X disconnects a slow reader. Default 8 MiB. */
  readonly slowReaderBytes?: number;
  /** Firehose credit at the start. Default 10,000. */
  readonly balanceUsd?: number;
  /** Characters around a hit that a Firehose event shows of the diff. Default: all of it. */
  readonly excerptChars?: number;
  /** Whether both services limit rates. Default true. */
  readonly rateLimits?: boolean;
  /** Invented posts and pages. X's counts include the same rate of posts in the week before the start. Default none. */
  readonly feed?: FeedRates;
  /** Invented posts per second on Bluesky, besides other commits. Default none. */
  readonly blueskyPostsPerSecond?: number;
  /** The same seed makes the same feed. Default 1. */
  readonly seed?: number;
}
