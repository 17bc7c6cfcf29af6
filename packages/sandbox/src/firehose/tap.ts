import { randomInt, randomUUID } from 'node:crypto';
import { createRuleIndex, type Matcher, type RuleIndex } from '@earshot/query';
import type { Clock } from '../clock.ts';
import { createSlidingWindow, type SlidingWindow } from '../rate-limit.ts';
import type { StreamPipe } from '../stream-pipe.ts';
import { createTapMeter, type TapMeter } from './metering.ts';
import type { FirehosePage } from './page.ts';
import { createReplayBuffer, type ReplayBuffer } from './replay-buffer.ts';

export interface FirehoseRule {
  readonly id: string;
  readonly value: string;
  readonly tag: string | undefined;
  readonly nsfw: boolean;
  readonly quality: boolean;
  readonly matcher: Matcher<FirehosePage>;
}

/** One open Server-Sent Events stream: an offset in the replay buffer of its tap. */
export interface FirehoseConnection {
  readonly pipe: StreamPipe;
  /** Sends the events from the offset on, as long as the client keeps up. */
  readonly pump: () => void;
}

export interface TapOptions {
  readonly token: string;
  readonly name?: string;
  /** A rule beyond this is answered with 422. The documentation names no number. Default: no limit. */
  readonly ruleCap?: number;
}

/** All state of one tap. */
export interface Tap {
  readonly id: string;
  name: string;
  readonly token: string;
  status: 'active' | 'paused';
  readonly createdAt: string;
  lastUsedAt: string | null;
  readonly ruleCap: number;
  readonly rules: Map<string, FirehoseRule>;
  /** Deleted rules that the matcher has not dropped yet, by id. */
  readonly lingering: Map<string, FirehoseRule>;
  readonly index: RuleIndex<string, FirehosePage>;
  readonly buffer: ReplayBuffer;
  readonly connections: Set<FirehoseConnection>;
  readonly limits: { rules: SlidingWindow; stream: SlidingWindow };
  readonly meter: TapMeter;
}

const minuteMs = 60_000;
const retentionMs = 24 * 60 * minuteMs;
const ruleCallsPerMinute = 60;
const connectionsPerMinute = 30;
/** Other taps share the partition, so some offsets are skipped (firehose.md §6.2). */
const jumpProbability = 0.1;

export interface TapDeps {
  readonly clock: Clock;
  readonly rateLimits: boolean;
}

export function createTap(options: TapOptions & TapDeps): Tap {
  const { clock, rateLimits } = options;
  const window = (limit: number) =>
    createSlidingWindow({
      limit: rateLimits ? limit : Number.MAX_SAFE_INTEGER,
      windowMs: clock.realMs(minuteMs),
      nowMs: clock.nowMs,
    });
  return {
    id: randomUUID(),
    name: options.name ?? 'sandbox',
    token: options.token,
    status: 'active',
    createdAt: toOffsetTime(clock.nowMs()),
    lastUsedAt: null,
    ruleCap: options.ruleCap ?? Number.MAX_SAFE_INTEGER,
    rules: new Map(),
    lingering: new Map(),
    index: createRuleIndex(),
    // Starts at random, so that an offset of an earlier run is not valid by accident.
    buffer: createReplayBuffer({
      firstOffset: randomInt(10_000_000, 900_000_000),
      nextStep: () => (Math.random() < jumpProbability ? randomInt(2, 10) : 1),
      retentionMs: clock.realMs(retentionMs),
      nowMs: clock.nowMs,
    }),
    connections: new Set(),
    limits: { rules: window(ruleCallsPerMinute), stream: window(connectionsPerMinute) },
    meter: createTapMeter(),
  };
}

export function putRule(tap: Tap, rule: FirehoseRule): void {
  dropRule(tap, rule.id);
  tap.rules.set(rule.id, rule);
  tap.index.add(rule.id, rule.matcher);
}

export function dropRule(tap: Tap, id: string): boolean {
  tap.index.remove(id);
  return tap.rules.delete(id);
}

/** The rule is gone from the list at once; its matches still come for a while. */
export function deleteRule(tap: Tap, rule: FirehoseRule, lagMs: number): void {
  if (lagMs === 0) {
    dropRule(tap, rule.id);
    return;
  }
  tap.rules.delete(rule.id);
  tap.lingering.set(rule.id, rule);
  setTimeout(() => {
    tap.lingering.delete(rule.id);
    tap.index.remove(rule.id);
  }, lagMs).unref();
}

/** ISO 8601 with an offset, as in the taps API. */
export function toOffsetTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}+00:00`;
}
