import type { BlueskyConnection } from './bluesky/bluesky.ts';
import { writeError } from './bluesky/frames.ts';
import { type Fault, textParam } from './faults.ts';
import { sseFrame } from './firehose/connection.ts';
import type { FirehoseConnection } from './firehose/tap.ts';
import { isJsonObject, type JsonObject, textOf } from './http/json.ts';
import type { XApp } from './x/app.ts';
import type { XConnection } from './x/connections.ts';

const defaultMessage = 'The sandbox is set to send this message.';

/** Where the platforms differ when a fault ends a stream. */
interface FaultyStream {
  readonly pipe: Pick<BlueskyConnection['stream'], 'write' | 'stall' | 'mute' | 'destroy' | 'reset' | 'end'>;
  controlMessage(params: JsonObject): string;
  /** Runs `end` after the platform has recorded why the stream ends. */
  close(end: () => void, params: JsonObject): void;
}

export function applyToXStream(fault: Fault, app: XApp, connection: XConnection): void {
  const reasonOf = (params: JsonObject) => textParam(params, 'disconnect_type', 'OperationalDisconnect');
  applyToStream(fault, {
    pipe: connection.pipe,
    controlMessage: (params) => {
      const error = {
        title: 'operational-disconnect',
        disconnect_type: reasonOf(params),
        detail: defaultMessage,
        type: app.problems.type('operational-disconnect'),
      };
      return `${JSON.stringify(isJsonObject(params['body']) ? params['body'] : { errors: [error] })}\r\n`;
    },
    close: (end, params) => app.connections.disconnect(connection, reasonOf(params), end),
  });
}

export function applyToFirehoseStream(fault: Fault, { pipe }: FirehoseConnection): void {
  applyToStream(fault, {
    pipe,
    controlMessage: (params) =>
      sseFrame('error', JSON.stringify({ message: textParam(params, 'message', defaultMessage) })),
    close: (end) => end(),
  });
}

export function applyToBlueskyStream(fault: Fault, { stream, fail }: BlueskyConnection): void {
  const controlMessage = ({ body, error, message }: JsonObject) =>
    isJsonObject(body)
      ? JSON.stringify(body)
      : writeError(textOf(error) || 'ConsumerTooSlow', textOf(message) || defaultMessage);
  const isError = fault.kind === 'stream_control' && fault.params['hang'] !== true;
  if (isError) fail(controlMessage(fault.params));
  else applyToStream(fault, { pipe: stream, controlMessage, close: (end) => end() });
}

function applyToStream({ kind, params }: Fault, stream: FaultyStream): void {
  const { pipe } = stream;
  if (kind === 'stream_stall') pipe.stall();
  else if (kind === 'stream_mute') pipe.mute();
  else if (kind === 'stream_cut') stream.close(() => pipe.destroy(), params);
  else if (kind === 'stream_reset') stream.close(() => pipe.reset(), params);
  else if (kind === 'stream_eof') stream.close(() => pipe.end(), params);
  else if (kind === 'stream_control') {
    pipe.write(stream.controlMessage(params));
    if (params['hang'] === true) pipe.stall();
    else stream.close(() => pipe.end(), params);
  }
}
