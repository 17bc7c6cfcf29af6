import { hash } from 'node:crypto';

/**
 * Traces of items, from the upstream socket to the webhook. Trace context is neither stored nor sent, because most
 * operators do not use traces and each match would pay for it. Each process derives the trace id from the item, and
 * parent span ids from data that both processes know. So all processes sample the same items.
 */
export type Traces = ReturnType<typeof createTraces>;

/** A finished span. Times are in Unix milliseconds. */
export interface Span {
  readonly name: 'receive' | 'append' | 'match' | 'store' | 'deliver';
  readonly kind: 'consumer' | 'producer' | 'internal' | 'client';
  readonly traceId: string;
  /** Random if absent. */
  readonly spanId?: string;
  readonly parentId: string | null;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Receives spans. Neither method waits or throws. */
export interface SpanExport {
  isSampled(traceId: string): boolean;
  /** Returns the id of the span. */
  record(span: Span): string;
}

/** An event of the log. */
interface TracedEvent {
  readonly platform: string;
  readonly sourceId: string;
  readonly key: string;
  readonly receivedMs?: number;
  readonly via?: string;
  readonly rules: ReadonlyArray<{ readonly upstreamRuleId: string }>;
}

export interface TracedMatch {
  readonly matchId: string;
  readonly ruleId: string;
  readonly platform: string;
  readonly eventKey: string;
}

/** The result of an event that was taken from the log. */
export type MatchOutcome =
  | 'stored'
  | 'put_off'
  | 'unknown_rule'
  | 'time_out_of_range'
  | 'failed'
  | 'dead_letter';

/** One event may match thousands of rules. */
const storeSpansMax = 100;

export function createTraces(installation: string, spans: SpanExport) {
  /** Null if the item is not sampled. */
  const traceOf = (platform: string, key: string): string | null => {
    const traceId = hash('sha256', `${installation} ${platform} ${key}`).slice(0, 32);
    return spans.isSampled(traceId) ? traceId : null;
  };
  return {
    isTraced: (platform: string, key: string) => traceOf(platform, key) !== null,
    ...ingestSpans(spans, traceOf),
    ...matchSpans(spans, traceOf),
    ...deliverSpans(spans, traceOf),
  };
}

type TraceOf = (platform: string, key: string) => string | null;

/** Hexadecimal, as trace ids are. */
function spanIdOf(traceId: string, ...parts: ReadonlyArray<string | number>): string {
  return hash('sha256', [traceId, ...parts].join(' ')).slice(0, 16);
}

/**
 * Includes the time and the rules: an item that is delivered again, or found for another rule, has its own append
 * span.
 */
function appendSpanId(traceId: string, { sourceId, receivedMs, rules }: TracedEvent): string {
  return spanIdOf(traceId, 'append', sourceId, receivedMs ?? '', ...rules.map((rule) => rule.upstreamRuleId));
}

const storeSpanId = (traceId: string, matchId: string) => spanIdOf(traceId, 'store', matchId);

const itemAttributes = ({ platform, sourceId, key }: TracedEvent) => ({
  'earshot.platform': platform,
  'earshot.source': sourceId,
  'earshot.item': key,
});

function ingestSpans(spans: SpanExport, traceOf: TraceOf) {
  return {
    /** `logged` is null if the log refused the event. Items that repair a gap were not received from the stream. */
    eventAppended(
      event: TracedEvent,
      startMs: number,
      logged: { readonly seq: number; readonly duplicate: boolean } | null,
    ): void {
      const { platform, key, receivedMs } = event;
      const traceId = traceOf(platform, key);
      if (traceId === null) return;
      const common = { traceId, endMs: Date.now(), failed: logged === null };
      const item = itemAttributes(event);
      const parentId =
        receivedMs === undefined
          ? null
          : spans.record({
              ...common,
              name: 'receive',
              kind: 'consumer',
              parentId: null,
              startMs: receivedMs,
              attributes: { ...item, 'earshot.upstream_rules': event.rules.length },
            });
      spans.record({
        ...common,
        name: 'append',
        kind: 'producer',
        spanId: appendSpanId(traceId, event),
        parentId,
        startMs,
        attributes: {
          ...item,
          'earshot.via': event.via ?? 'stream',
          ...(logged && { 'earshot.log.sequence': logged.seq, 'earshot.log.duplicate': logged.duplicate }),
        },
      });
    },
  };
}

function matchSpans(spans: SpanExport, traceOf: TraceOf) {
  return {
    /** `stored` are the new matches. */
    eventMatched(
      event: TracedEvent,
      taken: {
        readonly startMs: number;
        readonly sequence: number;
        readonly deliveries: number;
        readonly outcome: MatchOutcome;
        readonly stored: readonly TracedMatch[];
      },
    ): void {
      const traceId = traceOf(event.platform, event.key);
      if (traceId === null) return;
      const { startMs, sequence, deliveries, outcome, stored } = taken;
      const common = { traceId, startMs, endMs: Date.now() };
      const parentId = spans.record({
        ...common,
        name: 'match',
        kind: 'consumer',
        parentId: appendSpanId(traceId, event),
        failed: outcome === 'failed' || outcome === 'dead_letter',
        attributes: {
          ...itemAttributes(event),
          'earshot.log.sequence': sequence,
          'earshot.log.deliveries': deliveries,
          'earshot.outcome': outcome,
          'earshot.matches': stored.length,
        },
      });
      for (const { matchId, ruleId } of stored.slice(0, storeSpansMax))
        spans.record({
          ...common,
          name: 'store',
          kind: 'internal',
          spanId: storeSpanId(traceId, matchId),
          parentId,
          failed: false,
          attributes: { 'earshot.match': matchId, 'earshot.rule': ruleId },
        });
    },
  };
}

function deliverSpans(spans: SpanExport, traceOf: TraceOf) {
  return {
    /** Records a span in the trace of each match of the message. */
    webhookAttempted(attempt: {
      readonly webhookId: string;
      readonly messageId: string;
      /** Counted from 1. */
      readonly nth: number;
      readonly outcome: string;
      readonly status: number | null;
      readonly startMs: number;
      readonly endMs: number;
      readonly matches: readonly TracedMatch[];
    }): void {
      const { webhookId, messageId, nth, outcome, status, startMs, endMs, matches } = attempt;
      for (const { matchId, ruleId, platform, eventKey } of matches) {
        const traceId = traceOf(platform, eventKey);
        if (traceId === null) continue;
        spans.record({
          name: 'deliver',
          kind: 'client',
          traceId,
          parentId: storeSpanId(traceId, matchId),
          startMs,
          endMs,
          failed: outcome !== 'delivered',
          attributes: {
            'earshot.match': matchId,
            'earshot.rule': ruleId,
            'earshot.webhook': webhookId,
            'earshot.message': messageId,
            'earshot.attempt': nth,
            'earshot.outcome': outcome,
            ...(status !== null && { 'http.response.status_code': status }),
          },
        });
      }
    },
  };
}
