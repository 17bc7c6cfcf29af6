import { type Fault, textParam } from './faults.ts';
import type { FirehoseConnection } from './firehose/tap.ts';
import { isJsonObject, type JsonObject } from './http/json.ts';
import type { XApp } from './x/app.ts';
import type { XConnection } from './x/slots.ts';

/** What the faults of kind `now` do to one open stream of X. */
export function strikeXStream(
  { kind, params }: Fault,
  { slots, problems }: XApp,
  connection: XConnection,
): void {
  const told = textParam(params, 'disconnect_type', 'OperationalDisconnect');
  switch (kind) {
    case 'stream_reset':
      return slots.killConnection(connection, 'OperationalDisconnect', connection.reset);
    case 'stream_eof':
      return slots.killConnection(connection, 'OperationalDisconnect', connection.end);
    case 'stream_stall':
      return connection.stall();
    case 'stream_mute':
      return connection.mute();
    case 'stream_control':
      connection.tell(messageOf(params, told, problems.type('operational-disconnect')));
      if (params['hang'] === true) return connection.stall();
      return slots.killConnection(connection, told, connection.end);
    default:
      return slots.killConnection(connection, 'OperationalDisconnect');
  }
}

function messageOf(params: JsonObject, told: string, type: string): object {
  if (isJsonObject(params['body'])) return params['body'];
  const detail = 'The sandbox was told to say so.';
  return { errors: [{ title: 'operational-disconnect', disconnect_type: told, detail, type }] };
}

/** The same for one of Firehose. */
export function strikeTapStream({ kind, params }: Fault, connection: FirehoseConnection): void {
  switch (kind) {
    case 'stream_reset':
      return connection.reset();
    case 'stream_eof':
      return connection.end();
    case 'stream_stall':
      return connection.stall();
    case 'stream_mute':
      return connection.mute();
    case 'stream_control':
      connection.tell(textParam(params, 'message', 'The sandbox was told to say so.'));
      return params['hang'] === true ? connection.stall() : connection.end();
    default:
      return connection.cut();
  }
}
