import { createHash } from 'node:crypto';
import { z } from 'zod';

export const postCollection = 'app.bsky.feed.post';

/** A change of one post, as both protocols of Jetstream send it. */
export interface Commit {
  /** Its place in the stream: microseconds since 1970, and the number that the instance gave it. */
  readonly id: string;
  readonly operation: 'create' | 'update' | 'delete';
  readonly did: string;
  readonly time: string;
  readonly rkey: string;
  readonly cid: string | null;
  readonly record: unknown;
}

export type Frame =
  | { readonly kind: 'commit'; readonly commit: Commit }
  /** Not about a post. `id` is its place in the stream, if it has one. */
  | { readonly kind: 'other'; readonly id: string | null }
  /** The instance no longer has everything since the requested time. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'error'; readonly name: string; readonly message: string };

const operation = z.enum(['create', 'update', 'delete']);
const name = z.string().min(1).max(512);

const changeSchema = {
  operation,
  collection: z.string(),
  rkey: name,
  cid: z.string().nullish(),
  record: z.unknown().optional(),
};

const envelopeSchema = z.looseObject({
  $type: z.string(),
  error: z.string().optional(),
  message: z.string().optional(),
  payload: z
    .looseObject({ $type: z.string(), name: z.string().optional(), seq: z.int().optional() })
    .optional(),
});
const commitSchema = z.looseObject({ seq: z.int(), did: name, time: z.string(), ...changeSchema });
const olderSchema = z.looseObject({
  did: name,
  time_us: z.int(),
  cursor: z.int().optional(),
  commit: z.looseObject(changeSchema).optional(),
});

const messageType = 'network.bsky.jetstream.subscribeEvents#';

/** One frame of the stream; null if it has an unknown shape. */
export function readFrame(text: string): Frame | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const envelope = envelopeSchema.safeParse(json);
  return envelope.success ? readEnvelope(envelope.data) : readOlder(json);
}

function readEnvelope({ $type, error, message, payload }: z.output<typeof envelopeSchema>): Frame | null {
  if ($type === 'error') return { kind: 'error', name: error ?? 'unknown', message: message ?? '' };
  if (payload === undefined) return null;
  if (payload.$type === `${messageType}info`)
    return payload.name === 'OutdatedCursor' ? { kind: 'outdated' } : { kind: 'other', id: null };
  if (payload.$type !== `${messageType}commit`) return { kind: 'other', id: null };
  const parsed = commitSchema.safeParse(payload);
  if (!parsed.success) return null;
  const { seq, did, time } = parsed.data;
  const micros = microsOf(time);
  return micros === null ? null : frameOf({ id: `${micros}-${seq}`, did, time }, parsed.data);
}

/** The protocol of `/subscribe`, which most public instances still have. */
function readOlder(json: unknown): Frame | null {
  const parsed = olderSchema.safeParse(json);
  if (!parsed.success) return null;
  const { did, time_us, cursor, commit } = parsed.data;
  const id = `${time_us}-${cursor ?? 0}`;
  if (commit === undefined) return { kind: 'other', id };
  return frameOf({ id, did, time: new Date(time_us / 1_000).toISOString() }, commit);
}

function frameOf(
  { id, did, time }: Pick<Commit, 'id' | 'did' | 'time'>,
  change: z.output<z.ZodObject<typeof changeSchema>>,
): Frame {
  const { collection, cid = null, record = null } = change;
  if (collection !== postCollection) return { kind: 'other', id };
  return {
    kind: 'commit',
    commit: { id, did, time, operation: change.operation, rkey: change.rkey, cid, record },
  };
}

/** The time of an event has six decimal places, of which `Date` knows three. */
function microsOf(time: string): number | null {
  const [, seconds = '', decimals = ''] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(time) ?? [];
  const ms = Date.parse(`${seconds}Z`);
  return Number.isNaN(ms) ? null : ms * 1_000 + Number(decimals.slice(0, 6).padEnd(6, '0'));
}

/** The time at which the instance received the event with this id. */
export function timeOfId(id: string): Date | null {
  const micros = Number(/^(\d+)-/.exec(id)?.[1] ?? Number.NaN);
  return Number.isNaN(micros) ? null : new Date(micros / 1_000);
}

export const uriOf = ({ did, rkey }: Pick<Commit, 'did' | 'rkey'>): string =>
  `at://${did}/${postCollection}/${rkey}`;

/** The key of a post: the same on every instance and for every version. */
export function keyOf(uri: string): string {
  return createHash('sha256').update(uri).digest('base64url').slice(0, 22);
}
