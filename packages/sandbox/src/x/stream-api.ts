import type { Handler } from '../http/exchange.ts';
import { refuseStream } from '../request-faults.ts';
import { authenticate, countCall, type XDeps } from './access.ts';
import { openXConnection } from './connection.ts';
import { readProjection } from './projection.ts';

/** GET /2/tweets/search/stream (x.md §4 and §5.1). */
export function openStream({ apps, clock, random, faults, backlogBytesMax }: XDeps): Handler {
  return (exchange) => {
    const app = authenticate(exchange, apps);
    countCall(exchange, app, 'stream');
    const scope = { platform: 'x', token: app.token } as const;
    refuseStream(faults, scope);
    const projection = readProjection(exchange.query, app.problems);
    if (app.rules.list().length === 0) throw app.problems.noRules();
    if (!app.connections.makeRoom()) throw app.problems.tooManyConnections();

    const { response, request } = exchange;
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    if (faults.take('stream_empty', scope) !== undefined) {
      response.writeHead(200, headers).end();
      return;
    }
    app.liveRules.catchUp();
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
        const isOpen = app.connections.open().includes(connection);
        // A stuck connection stays in the list, and counts, until somebody kills it.
        if (isOpen && faults.take('stuck_connection', scope) !== undefined) return;
        app.connections.remove(connection);
      },
    });
    app.connections.add(connection, request.socket.remoteAddress ?? '');
    response.writeHead(200, headers);
    response.flushHeaders();
  };
}
