import type { Deps } from '../deps.ts';
import { type Exchange, sendJson } from '../http/exchange.ts';
import { isStringArray, readJsonObject } from '../http/json.ts';
import { admit } from './access.ts';
import type { XApp } from './app.ts';
import type { ConnectionRecord } from './connections.ts';

const endpointName = 'filtered_stream';

/** GET /2/connections (x.md §5.3). */
export function listConnections(exchange: Exchange, { apps }: Deps): void {
  const app = admit(exchange, apps, 'connections');
  const records = select(app, exchange.query);
  const data = records.map((record) => toWire(record, exchange.query));
  const meta = { result_count: data.length };
  sendJson(exchange.response, 200, data.length > 0 ? { data, meta } : { meta });
}

/** DELETE /2/connections with `{"uuids": […]}`. */
export async function killConnections(exchange: Exchange, { apps }: Deps): Promise<void> {
  const app = admit(exchange, apps, 'connections');
  const uuids = (await readJsonObject(exchange.request))?.['uuids'];
  if (!isStringArray(uuids) || uuids.length === 0 || uuids.length > 100) {
    throw app.problems.invalidRequest('$.uuids: must be a list of 1 to 100 ids.');
  }
  sendJson(exchange.response, 200, kill(app, uuids));
}

/** DELETE /2/connections/all and DELETE /2/connections/{endpoint_id}. */
export function killEndpointConnections(exchange: Exchange, { apps }: Deps): void {
  const endpoint = exchange.params['endpoint'];
  const app = admit(exchange, apps, endpoint === 'all' ? 'killAll' : 'connections');
  const isOurs = endpoint === 'all' || endpoint === endpointName;
  const uuids = isOurs
    ? app.connections
        .history()
        .filter(isOpen)
        .map(({ id }) => id)
    : [];
  sendJson(exchange.response, 200, kill(app, uuids));
}

function kill(app: XApp, uuids: string[]): object {
  const results = uuids.map((uuid) =>
    app.connections.kill(uuid)
      ? { uuid, success: true }
      : { uuid, success: false, error_message: 'There is no such open connection.' },
  );
  const killed = results.filter(({ success }) => success).length;
  return { data: { successful_kills: killed, failed_kills: uuids.length - killed, results } };
}

function select(app: XApp, query: Exchange['query']): ConnectionRecord[] {
  const status = query.get('status') ?? 'active';
  const endpoints = query.get('endpoints')?.split(',') ?? [endpointName];
  if (!endpoints.includes(endpointName)) return [];
  const limit = Number(query.get('max_results') ?? 10);
  return app.connections
    .history()
    .filter((record) => status === 'all' || isOpen(record) === (status === 'active'))
    .toReversed()
    .slice(0, limit);
}

function isOpen({ disconnectedAt }: ConnectionRecord): boolean {
  return disconnectedAt === undefined;
}

function toWire(record: ConnectionRecord, query: Exchange['query']): object {
  const all = {
    id: record.id,
    endpoint_name: endpointName,
    connected_at: record.connectedAt,
    disconnected_at: record.disconnectedAt,
    disconnect_reason: record.disconnectReason,
    client_ip: record.clientIp,
  };
  const wanted = query.get('connection.fields')?.split(',') ?? Object.keys(all);
  return Object.fromEntries(
    Object.entries(all).filter(([field]) => field === 'id' || wanted.includes(field)),
  );
}
