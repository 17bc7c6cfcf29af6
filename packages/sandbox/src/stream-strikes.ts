import { type Fault, textParam } from './faults.ts';
import type { FirehoseConnection } from './firehose/tap.ts';
import { isJsonObject, type JsonObject } from './http/json.ts';
import type { XApp } from './x/app.ts';
import type { XConnection } from './x/slots.ts';

/** What the faults of kind `now` do to one open stream. */
type Strike<Stream> = (stream: Stream, params: JsonObject) => void;
type StrikeName = 'cut' | 'reset' | 'eof' | 'stall' | 'mute' | 'control';

interface XStream {
  readonly app: XApp;
  readonly connection: XConnection;
}

const xStrikes: Record<StrikeName, Strike<XStream>> = {
  cut: ({ app, connection }) => app.slots.killConnection(connection, 'OperationalDisconnect'),
  reset: ({ app, connection }) =>
    app.slots.killConnection(connection, 'OperationalDisconnect', connection.reset),
  eof: ({ app, connection }) => app.slots.killConnection(connection, 'OperationalDisconnect', connection.end),
  stall: ({ connection }) => connection.stall(),
  mute: ({ connection }) => connection.mute(),
  control({ app, connection }, params) {
    const told = textParam(params, 'disconnect_type', 'OperationalDisconnect');
    connection.tell(messageOf(params, told, app.problems.type('operational-disconnect')));
    if (params['hang'] === true) connection.stall();
    else app.slots.killConnection(connection, told, connection.end);
  },
};

const tapStrikes: Record<StrikeName, Strike<FirehoseConnection>> = {
  cut: (connection) => connection.cut(),
  reset: (connection) => connection.reset(),
  eof: (connection) => connection.end(),
  stall: (connection) => connection.stall(),
  mute: (connection) => connection.mute(),
  control(connection, params) {
    connection.tell(textParam(params, 'message', 'The sandbox was told to say so.'));
    if (params['hang'] === true) connection.stall();
    else connection.end();
  },
};

export function strikeXStream({ kind, params }: Fault, stream: XStream): void {
  strikeOf(kind, xStrikes)?.(stream, params);
}

export function strikeTapStream({ kind, params }: Fault, connection: FirehoseConnection): void {
  strikeOf(kind, tapStrikes)?.(connection, params);
}

function strikeOf<Stream>(kind: string, strikes: Record<string, Strike<Stream>>) {
  return strikes[kind.replace(/^stream_/, '')];
}

function messageOf(params: JsonObject, told: string, type: string): object {
  if (isJsonObject(params['body'])) return params['body'];
  const detail = 'The sandbox was told to say so.';
  return { errors: [{ title: 'operational-disconnect', disconnect_type: told, detail, type }] };
}
