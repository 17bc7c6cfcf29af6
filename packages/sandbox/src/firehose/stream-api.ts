import type { ServerResponse } from 'node:http';
import type { Deps } from '../deps.ts';
import type { Exchange } from '../http/exchange.ts';
import { refuseStream } from '../request-faults.ts';
import { authenticateTap, countCall } from './access.ts';
import { openFirehoseConnection, sseFrame } from './connection.ts';
import { invalid, outOfCredit, tooManyRequests } from './problems.ts';
import { findStart } from './start-position.ts';

const timeoutSecondsMax = 300;
const limitMax = 10_000;

/** GET /v1/stream (firehose.md §6). */
export function openStream(exchange: Exchange, { organization, clock, random, faults }: Deps): void {
  const tap = authenticateTap(exchange, organization);
  countCall(tap, 'stream');
  const { knobs } = organization;
  const scope = { platform: 'firehose', token: tap.token } as const;
  refuseStream(faults, scope);
  const timeoutSeconds = readNumber(exchange.query, 'timeout', timeoutSecondsMax) ?? timeoutSecondsMax;
  const eventsMax = readNumber(exchange.query, 'limit', limitMax) ?? Number.POSITIVE_INFINITY;
  const fromOffset = findStart(tap.buffer, {
    lastEventId: singleHeader(exchange, 'last-event-id'),
    offset: exchange.query.get('offset') ?? undefined,
    since: exchange.query.get('since') ?? undefined,
    nowMs: clock.nowMs(),
    knobs,
  });
  if (typeof fromOffset === 'string') throw invalid(fromOffset, [`The ${fromOffset} is not valid.`]);
  if (tap.connections.size >= knobs.streamsMax) throw tooManyRequests(1_000);
  if (organization.balanceMicroUsd <= 0) throw outOfCredit();

  const { response } = exchange;
  if (faults.take('stream_empty', scope) !== undefined) {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end();
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  if (tap.rules.size === 0) return refuseWithoutRules(response);
  openFirehoseConnection({
    response,
    tap,
    organization,
    fromOffset,
    eventsMax,
    timeoutMs: timeoutSeconds * 1_000,
    clock,
    random,
    faults,
  }).pump();
}

/** The status is 200; the error is an event of the stream (firehose.md §6.2). */
function refuseWithoutRules(response: ServerResponse): void {
  const message = 'No rules configured for this tap. Create one with POST /v1/rules first.';
  response.end(sseFrame('connected', '{}') + sseFrame('error', JSON.stringify({ message })));
}

function readNumber(query: URLSearchParams, name: string, max: number): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalid(name, [`The ${name} is 1 to ${max}.`]);
  return value;
}

function singleHeader({ request }: Exchange, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
