import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Deps } from '../deps.ts';
import { type Exchange, Refusal } from '../http/exchange.ts';
import type { Route } from '../http/router.ts';
import type { SocketRoute } from '../http/server.ts';
import { statusRefusal } from '../request-faults.ts';
import { type Endpoint, openBlueskyConnection } from './connection.ts';
import { blueskyScope } from './frame-writer.ts';
import { streamName, toFirstVersion, writeMessage } from './frames.ts';
import { findStart } from './start-position.ts';
import { readFirstSubscription, readSubscription, refuse, type Subscription } from './subscription.ts';

const subprotocol = 'xrpc.v1.json';

const events: Endpoint = {
  path: `/xrpc/${streamName}`,
  isPushOnly: true,
  encode: ({ frame }) => frame,
  frameFaults: {
    unknownMessage: `{"$type":"message","payload":{"$type":"${streamName}#surprise"}}`,
    brokenFrame: '{"$type":"message","payload":{"$type":',
    enlarge: (frame, bytes) =>
      frame.replace('"payload":{', () => `"payload":{"padding":"${'x'.repeat(bytes)}",`),
  },
};

const firstVersion: Endpoint = {
  path: '/subscribe',
  isPushOnly: false,
  encode: ({ frame }, { v1Cursor }) => Buffer.from(toFirstVersion(frame, v1Cursor === 'present')),
  frameFaults: {
    unknownMessage: '{"did":"did:plc:surprise","time_us":1,"kind":"surprise"}',
    brokenFrame: '{"did":',
    enlarge: (frame, bytes) => frame.replace('{', () => `{"padding":"${'x'.repeat(bytes)}",`),
  },
};

/** The bytes that a client may send. */
const maxPayload = 10_000_000;
const noServer = { noServer: true, perMessageDeflate: false, maxPayload } as const;
const webSockets = new WebSocketServer({
  ...noServer,
  handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
});
const firstWebSockets = new WebSocketServer({ ...noServer, handleProtocols: () => false });

export const blueskySocketRoutes: readonly SocketRoute<Deps>[] = [
  [events.path, openEvents],
  [firstVersion.path, openFirstVersion],
];

/** Without an upgrade, the parameters are checked all the same. */
export const blueskyRoutes: readonly Route<Deps>[] = [
  ['GET', events.path, (exchange, deps) => refuseWithoutUpgrade(() => readEvents(exchange, deps))],
  ['GET', firstVersion.path, (exchange, deps) => refuseWithoutUpgrade(() => readFirst(exchange, deps))],
];

function refuseWithoutUpgrade(check: () => unknown): never {
  check();
  throw new Refusal(426, 'Upgrade Required', { upgrade: 'websocket', connection: 'Upgrade' });
}

interface Opening {
  readonly subscription: Subscription;
  readonly fromSeq: number;
  /** The frame with which the stream starts. */
  readonly notice: string | undefined;
}

function readEvents({ request, query }: Exchange, deps: Deps): Opening {
  refuseByFault(deps);
  if (String(request.headers['socket-encoding']).includes('zstd'))
    throw refuse('InvalidRequest', 'Socket-Encoding: zstd belongs to /subscribe; use zstdDictionary=<id>');
  const subscription = readSubscription(query);
  const start = startOf(query, deps);
  if (start.kind === 'invalid') throw refuse('InvalidRequest', `subscribe: invalid cursor: ${start.reason}`);
  if (start.kind === 'too_old')
    throw refuse(
      'CursorTooOld',
      `subscribe: cursor too old: cursor ${query.get('cursor')} below lookback floor ${start.floor}; re-backfill from your last seq`,
    );
  const message = `requested timestamp cursor below retention floor; starting at seq ${start.seq}`;
  const notice = start.isClamped ? writeMessage('info', { name: 'OutdatedCursor', message }) : undefined;
  return { subscription, fromSeq: start.seq, notice };
}

/** An old cursor starts at the floor, without a notice. */
function readFirst({ query }: Exchange, deps: Deps): Opening {
  refuseByFault(deps);
  const subscription = readFirstSubscription(query);
  const start = startOf(query, deps);
  if (start.kind === 'invalid') throw new Refusal(400, `subscribe: invalid cursor: ${start.reason}`);
  const fromSeq = start.kind === 'too_old' ? start.floor : start.seq;
  return { subscription, fromSeq, notice: undefined };
}

function refuseByFault({ faults }: Deps): void {
  const fault = faults.take('stream_status', blueskyScope);
  if (fault === undefined) return;
  const error = fault.params['status'] === 429 ? 'RateLimitExceeded' : 'ServiceUnavailable';
  throw statusRefusal(fault.params, (message) => ({ error, message }));
}

function startOf(query: URLSearchParams, { bluesky, clock }: Deps) {
  const nowUs = bluesky.nowUs();
  const oldestUs = nowUs - clock.realMs(bluesky.knobs.lookbackMs) * 1_000;
  return findStart(bluesky.log, { cursor: query.get('cursor'), nowUs, oldestUs });
}

function openEvents(exchange: Exchange, socket: Socket, head: Buffer, deps: Deps): void {
  open(webSockets, events, readEvents(exchange, deps), { request: exchange.request, socket, head, deps });
}

function openFirstVersion(exchange: Exchange, socket: Socket, head: Buffer, deps: Deps): void {
  const { request } = exchange;
  open(firstWebSockets, firstVersion, readFirst(exchange, deps), { request, socket, head, deps });
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly deps: Deps;
}

function open(
  server: WebSocketServer,
  endpoint: Endpoint,
  { subscription, fromSeq, notice }: Opening,
  { request, socket, head, deps }: Upgrade,
): void {
  const { bluesky, clock, random, faults } = deps;
  server.handleUpgrade(request, socket, head, (webSocket) => {
    if (faults.take('stream_empty', blueskyScope) !== undefined) {
      webSocket.close(1000);
      return;
    }
    if (notice !== undefined) webSocket.send(notice);
    openBlueskyConnection({
      webSocket,
      socket,
      endpoint,
      subscription,
      fromSeq,
      bluesky,
      clock,
      random,
      faults,
    }).pump();
  });
}
