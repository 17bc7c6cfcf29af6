import { isJsonObject, type JsonObject } from '../http/json.ts';

export const streamName = 'network.bsky.jetstream.subscribeEvents';

export type EventKind = 'commit' | 'identity' | 'account' | 'sync';

/** The server sorts the keys of a payload by name. */
export function writeMessage(kind: EventKind | 'info', payload: JsonObject): string {
  return wrap(writeSorted({ $type: typeOf(kind), ...payload }));
}

export interface CommitFields {
  readonly seq: number;
  readonly did: string;
  readonly time: string;
  readonly rev: string;
  readonly operation: string;
  readonly collection: string;
  readonly rkey: string;
}

/** `record` is JSON already, with sorted keys. */
export function writeCommit(
  commit: CommitFields,
  record?: { readonly json: string; readonly cid: string },
): string {
  const { seq, did, time, rev, operation, collection, rkey } = commit;
  const start = JSON.stringify({ $type: typeOf('commit'), cid: record?.cid, collection, did, operation });
  const end = JSON.stringify({ rev, rkey, seq, time });
  const middle = record ? `,"record":${record.json},` : ',';
  return wrap(`${start.slice(0, -1)}${middle}${end.slice(1)}`);
}

function wrap(payload: string): string {
  return `{"$type":"message","payload":${payload}}`;
}

function typeOf(kind: EventKind | 'info'): string {
  return `${streamName}#${kind}`;
}

export function writeError(error: string, message: string): string {
  return JSON.stringify({ $type: 'error', error, message });
}

/** The frame of the first protocol version, made from that of the second. */
export function toFirstVersion(frame: Buffer, hasCursor: boolean): string {
  const { payload } = JSON.parse(frame.toString());
  const { $type, seq, time, did, ...rest } = payload;
  const kind = String($type).slice(streamName.length + 1);
  return escapeAsGo(
    JSON.stringify({
      did,
      time_us: toMicroseconds(time),
      ...(hasCursor && { cursor: seq }),
      kind,
      [kind]: kind === 'commit' ? orderCommit(rest) : rest[kind],
    }),
  );
}

/** RFC 3339 with six fractional digits. */
export function toWireTime(atUs: number): string {
  const micros = String(atUs % 1_000).padStart(3, '0');
  return new Date(Math.floor(atUs / 1_000)).toISOString().replace('Z', `${micros}Z`);
}

/** Go's encoder sorts the keys of a record and escapes what HTML would interpret. */
export function writeSorted(value: unknown): string {
  return escapeAsGo(JSON.stringify(sortKeys(value)));
}

function toMicroseconds(wireTime: string): number {
  return Date.parse(wireTime) * 1_000 + Number(wireTime.slice(-4, -1));
}

function orderCommit({ rev, operation, collection, rkey, record, cid }: JsonObject): JsonObject {
  return { rev, operation, collection, rkey, record, cid };
}

function escapeAsGo(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const sorted: JsonObject = {};
  for (const key of Object.keys(value).toSorted()) sorted[key] = sortKeys(value[key]);
  return sorted;
}
