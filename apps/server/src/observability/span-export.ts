import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { ROOT_CONTEXT as noParent, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Span, SpanExport } from './traces.ts';

export interface SpanExportOptions {
  /** The OTLP endpoint over HTTP, including the path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ratio: number;
  readonly version: string;
  readonly node: string;
  readonly roles: readonly string[];
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Spans that may wait for the collector: about 10 MB. A batch of events creates up to 2,000 at once. */
const waitingMax = 8_192;
const batchSpansMax = 512;
const sendEveryMs = 1_000;
/** Limit for a batch with its retries, and for the rest at a shutdown. */
const sendWithinMs = 5_000;
const warnEveryMs = 60_000;

const kinds = {
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
} as const;

/**
 * Sends spans to a collector in the background. If the collector is down or hangs, spans are dropped and counted;
 * nothing else is affected. Only this file loads OpenTelemetry, and only nodes that export traces load this file.
 */
export function openSpanExport(options: SpanExportOptions): SpanExport & AsyncDisposable {
  const { url, headers, ratio } = options;
  const isTls = new URL(url).protocol === 'https:';
  const agent = isTls ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const exporter = new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: sendWithinMs,
    httpAgentOptions: () => agent,
  });
  /** Read by the library while it starts a span. */
  let ids = { traceId: '', spanId: '' };
  const provider = new TracerProvider({
    resource: resourceOf(options),
    // Always on, because callers check first whether the item is sampled.
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanProcessors: [countedProcessor(exporter, countSpans(options))],
  });
  const tracer = provider.getTracer('earshot', options.version);
  const sampler = new TraceIdRatioBasedSampler(ratio);
  return {
    isSampled: (traceId) =>
      sampler.shouldSample(noParent, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
    record({ traceId, spanId = randomBytes(8).toString('hex'), parentId, ...span }: Span) {
      ids = { traceId, spanId };
      const parent =
        parentId === null
          ? noParent
          : trace.setSpanContext(noParent, {
              traceId,
              spanId: parentId,
              traceFlags: TraceFlags.SAMPLED,
              isRemote: true,
            });
      const { name, kind, attributes, startMs: startTime, endMs } = span;
      const started = tracer.startSpan(name, { kind: kinds[kind], startTime, attributes }, parent);
      if (span.failed) started.setStatus({ code: SpanStatusCode.ERROR });
      // Clocks may differ or be set back.
      started.end(Math.max(startTime, endMs));
      return spanId;
    },
    async [Symbol.asyncDispose]() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, sendWithinMs);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
      agent.destroy();
    },
  };
}

function resourceOf({ version, node, roles }: SpanExportOptions) {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': 'earshot',
      'service.version': version,
      'service.instance.id': node,
      'earshot.roles': [...roles],
    }),
  );
}

type Count = (fate: 'sent' | 'failed' | 'dropped', spans: number, err?: Error) => void;

/** The library drops spans silently when its queue is full, so the queue is limited here, a little earlier. */
function countedProcessor(exporter: SpanExporter, count: Count): SpanProcessor {
  let waiting = 0;
  const counted: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length;
      exporter.export(spans, (result) => {
        if (result.error) count('failed', spans.length, result.error);
        else count('sent', spans.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const processor = new BatchSpanProcessor({
    exporter: counted,
    maxQueueSize: waitingMax,
    maxExportBatchSize: batchSpansMax,
    scheduledDelayMillis: sendEveryMs,
    // Only matters for a collector that answers endlessly; the exporter has its own limit.
    exportTimeoutMillis: 2 * sendWithinMs,
  });
  return {
    onStart: () => undefined,
    onEnd(span) {
      if (waiting >= waitingMax) return count('dropped', 1);
      waiting++;
      processor.onEnd(span);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}

function countSpans({ log, metrics }: SpanExportOptions): Count {
  let lost = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (fate, spans, err) => {
    metrics.traceSpans.inc({ fate }, spans);
    if (fate === 'sent') return;
    lost += spans;
    if (performance.now() - warnedAt < warnEveryMs) return;
    warnedAt = performance.now();
    log.warn({ lost, fate, reason: err?.message }, 'trace spans did not reach the collector');
    lost = 0;
  };
}
