import type { Deps } from '../deps.ts';
import type { Exchange } from '../http/exchange.ts';
import { refuseStream } from '../request-faults.ts';
import { admit } from './access.ts';
import { mayBackfill, readBackfillMinutes, sendBackfill } from './backfill.ts';
import { openXConnection } from './connection.ts';
import { readProjection } from './projection.ts';
import { recover } from './recovery-api.ts';

/** GET /2/tweets/search/stream (x.md §4 and §5.1). */
export function openStream(exchange: Exchange, deps: Deps): void {
  if (exchange.query.has('start_time')) return recover(exchange, deps);
  const { apps, clock, random, faults, backlogBytesMax } = deps;
  const app = admit(exchange, apps, 'stream');
  const scope = { platform: 'x', token: app.token } as const;
  refuseStream(faults, scope);
  const takesBackfill = app.knobs.backfill === 'ignored' || mayBackfill(app);
  const otherParameters = takesBackfill ? ['backfill_minutes'] : [];
  const backfillMinutes = readBackfillMinutes(app, exchange.query);
  const projection = readProjection(exchange.query, app.problems, {
    dialect: app.knobs.streamDialect,
    otherParameters,
  });
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
    keepAliveMs: app.knobs.keepAliveMs,
    backlogBytesMax,
    clock,
    random,
    faults,
    onClose: (unconfirmed) => {
      app.journal.addUnconfirmed(unconfirmed);
      const isOpen = app.connections.open().includes(connection);
      // A stuck connection stays in the list, and counts, until a client kills it.
      if (isOpen && faults.take('stuck_connection', scope) !== undefined) return;
      app.connections.remove(connection);
    },
  });
  app.connections.add(connection, request.socket.remoteAddress ?? '');
  response.writeHead(200, headers);
  response.flushHeaders();
  if (backfillMinutes > 0) sendBackfill(app, connection, backfillMinutes, deps);
}
