import type { TapOptions } from './firehose/tap.ts';
import type { XAppOptions } from './x/app.ts';

export const DEFAULT_X_TOKEN = 'sandbox-x-token';
export const DEFAULT_TAP_TOKEN = 'fh_sandbox';
export const DEFAULT_MANAGEMENT_KEY = 'fhm_sandbox';

export type FeedRates = { postsPerSecond: number; pagesPerSecond: number };

export type SandboxOptions = {
  /** 0 takes a free port. Default 0. */
  port?: number;
  /** How many times faster than documented all periods of the services pass. Default 1. */
  speed?: number;
  /** Default: one app with DEFAULT_X_TOKEN. */
  xApps?: readonly XAppOptions[];
  /** Default: one tap with DEFAULT_TAP_TOKEN. */
  taps?: readonly TapOptions[];
  managementKey?: string;
  /** Real time until a rule change reaches an open X stream. Default 2000 / speed. */
  ruleDelayMs?: number;
  /** Bytes an X reader may be behind before it is dropped. Default 8 MiB. */
  slowReaderBytes?: number;
  /** Firehose credit at the start. Default 10,000. */
  balanceUsd?: number;
  /** Characters around a hit that a Firehose event shows of the diff. Default: all of it. */
  excerptChars?: number;
  /** False switches the rate limits of both services off. Default true. */
  rateLimits?: boolean;
  /** Made-up posts and pages. Default none. */
  feed?: FeedRates;
  /** The same seed makes the same feed. Default 1. */
  seed?: number;
};
