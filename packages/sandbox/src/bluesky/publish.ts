import type { JsonObject } from '../http/json.ts';
import { textOf } from '../http/json.ts';
import type { Bluesky } from './bluesky.ts';
import type { LoggedEvent } from './event-log.ts';
import { toWireTime, writeCommit, writeMessage, writeSorted } from './frames.ts';
import { cidOf } from './ids.ts';

export interface Commit {
  readonly kind: 'commit';
  readonly did: string;
  readonly operation: 'create' | 'update' | 'delete';
  readonly collection: string;
  /** A missing key becomes a TID. */
  readonly rkey: string | undefined;
  /** Undefined for a deletion. */
  readonly record: JsonObject | undefined;
}

/** `detail` is what the network says of the identity or account; the relay adds its own `seq` and `time`. */
interface AccountEvent {
  readonly kind: 'identity' | 'account';
  readonly did: string;
  readonly detail: JsonObject;
}

export type Change = Commit | AccountEvent;

export interface Published {
  readonly seq: number;
  readonly time: string;
  /** Undefined for events that are no commits. */
  readonly uri: string | undefined;
  readonly cid: string | undefined;
}

export const postCollection = 'app.bsky.feed.post';

/** Appends the changes to the log and sends them to the connections that want them. */
export function publish(changes: readonly Change[], bluesky: Bluesky): Published[] {
  const published = changes.map((change) =>
    change.kind === 'commit' ? publishCommit(change, bluesky) : publishAccountEvent(change, bluesky),
  );
  for (const connection of bluesky.connections) connection.pump();
  return published;
}

function publishCommit(commit: Commit, bluesky: Bluesky): Published {
  const { did, operation, collection } = commit;
  const timeUs = bluesky.nowUs();
  const rkey = commit.rkey ?? bluesky.nextTid(timeUs);
  const rev = bluesky.nextTid(timeUs);
  const record = commit.record && encode(commit.record);
  const { seq, time } = append(bluesky, { kind: 'commit', did, timeUs, collection }, (position) =>
    writeCommit({ ...position, rev, operation, collection, rkey }, record),
  );
  const uri = `at://${did}/${collection}/${rkey}`;
  const text = commit.record ? textOf(commit.record['text']) : null;
  if (collection === postCollection) bluesky.journal.record({ seq, operation, uri, text, time }, operation);
  return { seq, time, uri, cid: record?.cid };
}

function encode(record: JsonObject) {
  const json = writeSorted(record);
  return { json, cid: cidOf('record', json) };
}

function publishAccountEvent({ kind, did, detail }: AccountEvent, bluesky: Bluesky): Published {
  const timeUs = bluesky.nowUs();
  const upstream = { ...detail, did, seq: relaySeq(timeUs), time: toWireTime(timeUs).replace(/...Z$/, 'Z') };
  const about = { kind, did, timeUs, collection: undefined };
  const position = append(bluesky, about, (fields) => writeMessage(kind, { ...fields, [kind]: upstream }));
  return { ...position, uri: undefined, cid: undefined };
}

type About = Pick<LoggedEvent, 'kind' | 'did' | 'timeUs' | 'collection'>;

function append(
  { log }: Bluesky,
  about: About,
  write: (position: { seq: number; did: string; time: string }) => string,
) {
  const seq = log.nextSeq();
  const time = toWireTime(about.timeUs);
  log.append({ seq, ...about, frame: Buffer.from(write({ seq, did: about.did, time })) });
  return { seq, time };
}

/** The relay counts separately. */
function relaySeq(timeUs: number): number {
  return Math.floor(timeUs / 60_000);
}
