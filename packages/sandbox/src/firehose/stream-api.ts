import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import type { Random } from '../random.ts';
import { refuseStream } from '../rule-faults.ts';
import { authenticateTap, countCall } from './access.ts';
import { openFirehoseConnection } from './connection.ts';
import type { Organization } from './organization.ts';
import { invalid, outOfCredit } from './problems.ts';
import { findStart } from './start-position.ts';

export interface FirehoseStreamDeps {
  readonly organization: Organization;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
}

const timeoutSecondsMax = 300;
const limitMax = 10_000;

/** GET /v1/stream (firehose.md §6). */
export function openStream({ organization, clock, random, faults }: FirehoseStreamDeps): Handler {
  return (exchange) => {
    const tap = authenticateTap(exchange, organization);
    countCall(tap, 'stream');
    refuseStream(faults, { platform: 'firehose', token: tap.token });
    const timeoutS = readNumber(exchange.query, 'timeout', timeoutSecondsMax) ?? timeoutSecondsMax;
    const limit = readNumber(exchange.query, 'limit', limitMax) ?? Number.POSITIVE_INFINITY;
    const fromOffset = findStart(tap.log, {
      lastEventId: singleHeader(exchange, 'last-event-id'),
      offset: exchange.query.get('offset') ?? undefined,
      since: exchange.query.get('since') ?? undefined,
      nowMs: clock.nowMs(),
    });
    if (typeof fromOffset === 'string') throw invalid(fromOffset, `The ${fromOffset} is not valid.`);
    if (organization.balanceUsd <= 0) throw outOfCredit();

    const { response } = exchange;
    if (faults.take('stream_empty', { platform: 'firehose', token: tap.token }) !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
    if (tap.rules.size === 0) return refuseWithoutRules(response);
    const connection = openFirehoseConnection({
      response,
      tap,
      organization,
      fromOffset,
      limit,
      timeoutMs: timeoutS * 1_000,
      clock,
      random,
      faults,
    });
    tap.connections.add(connection);
    connection.pump();
  };
}

/** The problem comes inside a stream that opened well: the status is 200 (firehose.md §6.2). */
function refuseWithoutRules(response: ServerResponse): void {
  const message = 'No rules configured for this tap. Create one with POST /v1/rules first.';
  response.end(`event: connected\ndata: {}\n\nevent: error\ndata: ${JSON.stringify({ message })}\n\n`);
}

function readNumber(query: URLSearchParams, name: string, max: number): number | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  const value = Number(given);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalid(name, `The ${name} is 1 to ${max}.`);
  return value;
}

function singleHeader({ request }: Exchange, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
