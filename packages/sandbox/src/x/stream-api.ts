import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Handler } from '../http/exchange.ts';
import type { Random } from '../random.ts';
import { refuseStream } from '../rule-faults.ts';
import { authenticate, countCall, type XApps } from './access.ts';
import { openXConnection } from './connection.ts';
import { readProjection } from './projection.ts';

export interface XStreamDeps {
  readonly apps: XApps;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly backlogBytesMax: number;
}

/** GET /2/tweets/search/stream (x.md §4 and §5.1). */
export function openStream({ apps, clock, random, faults, backlogBytesMax }: XStreamDeps): Handler {
  return (exchange) => {
    const app = authenticate(exchange, apps);
    countCall(exchange, app, 'stream');
    refuseStream(faults, { platform: 'x', token: app.token });
    const projection = readProjection(exchange.query);
    if ('parameter' in projection) {
      const { parameter, value } = projection;
      throw app.problems.invalidRequest(`The parameter ${parameter} is not valid here.`, {
        [parameter]: [value],
      });
    }
    if (app.rules.list().length === 0) throw app.problems.noRules();
    if (!app.slots.makeRoom()) throw app.problems.tooManyConnections();

    const { response, request } = exchange;
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const scope = { platform: 'x', token: app.token } as const;
    if (faults.take('stream_empty', scope) !== undefined) {
      response.writeHead(200, headers).end();
      return;
    }
    app.live.catchUp();
    const connection = openXConnection({
      response,
      projection,
      token: app.token,
      backlogBytesMax,
      clock,
      random,
      faults,
      onClose: (unconfirmed) => {
        app.journal.addUnconfirmed(unconfirmed);
        // Held by a client that is gone: it counts, and is listed, until somebody ends it.
        const isOurs = app.slots.open().includes(connection);
        if (isOurs && faults.take('stuck_slot', scope) !== undefined) return;
        app.slots.release(connection);
      },
    });
    app.slots.take(connection, request.socket.remoteAddress ?? '');
    response.writeHead(200, headers);
    response.flushHeaders();
  };
}
