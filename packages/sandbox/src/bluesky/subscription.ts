import { Refusal } from '../http/exchange.ts';
import type { LoggedEvent } from './event-log.ts';
import type { EventKind } from './frames.ts';

/** Which events a connection gets. */
export interface Subscription {
  /** Undefined means all, as for the other two. */
  readonly kinds: ReadonlySet<string> | undefined;
  readonly dids: ReadonlySet<string> | undefined;
  readonly collections: readonly string[] | undefined;
  /** 0 means no limit. */
  readonly maxMessageSizeBytes: number;
}

const kinds: readonly EventKind[] = ['commit', 'identity', 'account', 'sync'];
const didsMax = 10_000;
const collectionsMax = 100;
const uint32Max = 0xffff_ffff;
/** The real server has another one; this server has no dictionary. */
const currentDictionary = 20_260_811;

/** An error before the upgrade: an envelope of XRPC. */
export function refuse(error: string, message: string, status = 400): Refusal {
  return new Refusal(status, { error, message }, { 'content-type': 'application/json' });
}

function invalid(message: string): Refusal {
  return refuse('InvalidRequest', `subscribe: invalid options: ${message}`);
}

const replaced = [
  ['wantedDids', 'wantedDids is a parameter of /subscribe; use dids'],
  ['wantedCollections', 'wantedCollections is a parameter of /subscribe; use collections'],
  ['requireHello', 'requireHello does not exist here: the endpoint is server-push only'],
] as const;

/** The parameters of `subscribeEvents`. Other unknown ones are ignored. */
export function readSubscription(query: URLSearchParams): Subscription {
  refuseCompression(query);
  for (const [name, message] of replaced) if (query.has(name)) throw invalid(message);
  const wantedKinds = query.getAll('kinds');
  if (wantedKinds.length > kinds.length) throw invalid(`too many kinds values: ${wantedKinds.length} > 4`);
  for (const kind of wantedKinds)
    if (!kinds.some((known) => known === kind))
      throw invalid(`unknown kind ${JSON.stringify(kind)} (valid: ${kinds.join(', ')})`);
  const dids = query.getAll('dids');
  if (dids.length > didsMax) throw invalid(`too many dids values: ${dids.length} > ${didsMax}`);
  const collections = query.getAll('collections');
  if (collections.length > collectionsMax)
    throw invalid(`too many collections values: ${collections.length} > ${collectionsMax}`);
  assertDids(dids, invalid);
  for (const collection of collections)
    if (!isNsid(collection.replace(/\.\*$/, '.x'))) throw invalid(`invalid collection: ${collection}`);
  if (collections.length > 0 && wantedKinds.length > 0 && !wantedKinds.includes('commit'))
    throw invalid('the collections filter can never apply: kinds excludes commit');
  return {
    ...toFilter(dids, collections),
    kinds: wantedKinds.length > 0 ? new Set(wantedKinds) : undefined,
    maxMessageSizeBytes: readSizeMax(query),
  };
}

function refuseCompression(query: URLSearchParams): void {
  if (query.get('compress') === 'true')
    throw refuse('InvalidRequest', 'compress=true belongs to /subscribe; use zstdDictionary=<id>');
  const dictionary = query.get('zstdDictionary') ?? '';
  if (dictionary === '') return;
  const id = readUint32(dictionary);
  if (id === undefined || id === 0)
    throw refuse('InvalidRequest', 'zstdDictionary must be a positive integer zstd dictionary ID');
  throw refuse(
    'UnknownZstdDictionary',
    `unknown zstd dictionary id ${id}; current dictionary id is ${currentDictionary}`,
  );
}

function readSizeMax(query: URLSearchParams): number {
  const [text, ...more] = query.getAll('maxMessageSizeBytes');
  const size = text === undefined ? 0 : readUint32(text);
  if (size === undefined || more.length > 0)
    throw invalid('maxMessageSizeBytes must be one unsigned 32-bit integer');
  return size;
}

/** The parameters of `/subscribe`, whose errors are plain text. A size that is not valid means no limit. */
export function readFirstSubscription(query: URLSearchParams): Subscription {
  const refusePlain = (message: string) => new Refusal(400, `subscribe: invalid options: ${message}`);
  const dids = [...new Set(query.getAll('wantedDids'))];
  const collections = [...new Set(query.getAll('wantedCollections'))];
  assertDids(dids, refusePlain);
  for (const collection of collections)
    if (!collection.endsWith('.*') && !isNsid(collection))
      throw refusePlain(`invalid collection: ${collection}`);
  if (dids.length > didsMax) throw refusePlain(`too many wanted DIDs: ${dids.length} > ${didsMax}`);
  if (collections.length > collectionsMax)
    throw refusePlain(`too many wanted collections: > ${collectionsMax}`);
  if (query.get('compress') === 'true' || query.get('requireHello') === 'true')
    throw refusePlain('the sandbox knows no compress and no requireHello');
  return {
    ...toFilter(dids, collections),
    kinds: undefined,
    maxMessageSizeBytes: readUint32(query.get('maxMessageSizeBytes') ?? '') ?? 0,
  };
}

export function wants({ kinds: wanted, dids, collections }: Subscription, event: LoggedEvent): boolean {
  if (wanted !== undefined && !wanted.has(event.kind)) return false;
  if (dids !== undefined && !dids.has(event.did)) return false;
  const { collection } = event;
  if (collections === undefined || collection === undefined) return true;
  return collections.some((one) =>
    one.endsWith('*') ? collection.startsWith(one.slice(0, -1)) : collection === one,
  );
}

function toFilter(dids: readonly string[], collections: readonly string[]) {
  return {
    dids: dids.length > 0 ? new Set(dids) : undefined,
    collections: collections.length > 0 ? collections : undefined,
  };
}

function assertDids(dids: readonly string[], refuseWith: (message: string) => Refusal): void {
  const wrong = dids.find((did) => !/^did:[a-z]+:[\w.:%-]*[\w.-]$/.test(did));
  if (wrong !== undefined) throw refuseWith(`invalid DID: ${wrong}`);
}

function isNsid(text: string): boolean {
  return text.length <= 317 && /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+\.[a-z][a-z0-9]*$/i.test(text);
}

function readUint32(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= uint32Max ? Number(text) : undefined;
}
