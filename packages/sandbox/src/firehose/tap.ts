import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Matcher } from '../match/matcher.ts';
import { createRuleIndex, type RuleIndex } from '../match/rule-index.ts';
import { createSlidingWindow, type SlidingWindow } from '../rate-limit.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import type { FirehosePage } from './page.ts';

export type FirehoseRule = {
  id: string;
  value: string;
  tag: string | undefined;
  nsfw: boolean;
  quality: boolean;
  matcher: Matcher<FirehosePage>;
};

/** One open Server-Sent Events stream: a position in the log of its tap. */
export type FirehoseConnection = {
  /** Sends what the log has from the position on, as far as the client keeps up. */
  pump: () => void;
  stall: () => void;
  isStalled: () => boolean;
  cut: () => void;
  reset: () => void;
  /** The end of the bytes, without the `end` event. */
  end: () => void;
  /** Sends an `error` event. */
  tell: (message: string) => void;
  /** No more events; the connection lives on. */
  mute: () => void;
};

export type TapOptions = {
  token: string;
  name?: string;
  /** Rules beyond this answer 422. The documentation names no number; default is no limit. */
  ruleCap?: number;
};

/** All state of one tap: a token, its rules, its replay buffer and its open streams. */
export type Tap = {
  id: string;
  name: string;
  token: string;
  status: 'active' | 'paused';
  createdAt: string;
  lastUsedAt: string | null;
  ruleCap: number;
  rules: Map<string, FirehoseRule>;
  index: RuleIndex<string, FirehosePage>;
  log: EventLog;
  connections: Set<FirehoseConnection>;
  limits: { rules: SlidingWindow; stream: SlidingWindow };
  /** Pages that were charged already. */
  charged: Set<string>;
  eventsDelivered: number;
};

const MINUTE_MS = 60_000;
const RETENTION_MS = 24 * 60 * MINUTE_MS;
const RULE_CALLS_PER_MINUTE = 60;
const CONNECTIONS_PER_MINUTE = 30;
/** Other taps share the partition, so offsets jump now and then (firehose.md §6.2). */
const JUMP_PROBABILITY = 0.1;

export type TapDeps = { clock: Clock; rateLimits: boolean };

export function createTap(options: TapOptions, { clock, rateLimits }: TapDeps): Tap {
  const window = (limit: number) =>
    createSlidingWindow({
      limit: rateLimits ? limit : Number.MAX_SAFE_INTEGER,
      windowMs: clock.realMs(MINUTE_MS),
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
      nextStep: () => (Math.random() < JUMP_PROBABILITY ? randomInt(2, 10) : 1),
      retentionMs: clock.realMs(RETENTION_MS),
      nowMs: clock.nowMs,
    }),
    connections: new Set(),
    limits: { rules: window(RULE_CALLS_PER_MINUTE), stream: window(CONNECTIONS_PER_MINUTE) },
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
