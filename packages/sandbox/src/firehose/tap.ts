import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Matcher } from '../match/matcher.ts';
import { createRuleIndex, type RuleIndex } from '../match/rule-index.ts';
import { createSlidingWindow, type SlidingWindow } from '../rate-limit.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import type { FirehosePage } from './page.ts';

export interface FirehoseRule {
  readonly id: string;
  readonly value: string;
  readonly tag: string | undefined;
  readonly nsfw: boolean;
  readonly quality: boolean;
  readonly matcher: Matcher<FirehosePage>;
}

/** One open Server-Sent Events stream: a position in the log of its tap. */
export interface FirehoseConnection {
  /** Sends what the log has from the position on, as far as the client keeps up. */
  readonly pump: () => void;
  readonly stall: () => void;
  readonly isStalled: () => boolean;
  readonly cut: () => void;
  readonly reset: () => void;
  /** The end of the bytes, without the `end` event. */
  readonly end: () => void;
  /** Sends an `error` event. */
  readonly tell: (message: string) => void;
  /** No more events; the connection lives on. */
  readonly mute: () => void;
}

export interface TapOptions {
  readonly token: string;
  readonly name?: string;
  /** Rules beyond this answer 422. The documentation names no number; default is no limit. */
  readonly ruleCap?: number;
}

/** All state of one tap: a token, its rules, its replay buffer and its open streams. */
export interface Tap {
  readonly id: string;
  name: string;
  readonly token: string;
  status: 'active' | 'paused';
  readonly createdAt: string;
  lastUsedAt: string | null;
  readonly ruleCap: number;
  readonly rules: Map<string, FirehoseRule>;
  readonly index: RuleIndex<string, FirehosePage>;
  readonly log: EventLog;
  readonly connections: Set<FirehoseConnection>;
  readonly limits: { rules: SlidingWindow; stream: SlidingWindow };
  /** Pages that were charged already. */
  readonly charged: Set<string>;
  eventsDelivered: number;
}

const minuteMs = 60_000;
const retentionMs = 24 * 60 * minuteMs;
const ruleCallsPerMinute = 60;
const connectionsPerMinute = 30;
/** Other taps share the partition, so offsets jump now and then (firehose.md §6.2). */
const jumpProbability = 0.1;

export interface TapDeps {
  readonly clock: Clock;
  readonly rateLimits: boolean;
}

export function createTap(options: TapOptions, { clock, rateLimits }: TapDeps): Tap {
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
    index: createRuleIndex(),
    // High and different on every run: an offset of an earlier run must not look valid by chance.
    log: createEventLog({
      firstOffset: randomInt(10_000_000, 900_000_000),
      nextStep: () => (Math.random() < jumpProbability ? randomInt(2, 10) : 1),
      retentionMs: clock.realMs(retentionMs),
      nowMs: clock.nowMs,
    }),
    connections: new Set(),
    limits: { rules: window(ruleCallsPerMinute), stream: window(connectionsPerMinute) },
    charged: new Set(),
    eventsDelivered: 0,
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

/** ISO-8601 with offset, as the taps API shows times. */
export function toOffsetTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}+00:00`;
}
