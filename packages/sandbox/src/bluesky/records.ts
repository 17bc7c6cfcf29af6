import { entityPatterns } from '@earshot/query';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { didOf } from './ids.ts';
import { type Change, type Commit, postCollection } from './publish.ts';

const defaultHandle = 'sandbox-user.bsky.example';

/**
 * The commit of a post in the format of the control API. Only `text` is required. Fields that do not address the
 * commit go into the record as given. Returns a message instead when the input is not valid.
 */
export function buildPost(input: unknown, nowMs: number): Commit | string {
  if (!isJsonObject(input) || typeof input['text'] !== 'string') return 'a post needs a text';
  const { handle, did, rkey, operation, ...given } = input;
  const facets = findFacets(input['text']);
  return buildCommit({
    handle,
    did,
    rkey,
    operation,
    collection: postCollection,
    record: {
      $type: postCollection,
      createdAt: new Date(nowMs).toISOString(),
      langs: ['en'],
      ...(facets.length > 0 && { facets }),
      ...given,
    },
  });
}

/** A commit in the format of the control API, without a deletion. Returns a message instead when it is not valid. */
export function buildCommit(input: unknown): Commit | string {
  if (!isJsonObject(input)) return 'a commit is an object';
  const { rkey, operation = 'create', collection, record } = input;
  const did = readDid(input);
  if (did === undefined) return 'did and handle are strings';
  if (typeof collection !== 'string' || !isJsonObject(record))
    return 'a commit needs a collection and a record';
  if (rkey !== undefined && (typeof rkey !== 'string' || !/^[\w.:~-]{1,512}$/.test(rkey)))
    return 'rkey is a record key';
  if (operation !== 'create' && operation !== 'update') return 'operation is create or update';
  return { kind: 'commit', did, operation, collection, rkey, record };
}

/** The deletion of the record at `uri`. */
export function buildDeletion(input: unknown): Commit | string {
  const uri = isJsonObject(input) ? input['uri'] : undefined;
  const [, did, collection, rkey] = /^at:\/\/(did:[^/]+)\/([^/]+)\/([^/]+)$/.exec(String(uri)) ?? [];
  if (did === undefined || collection === undefined)
    return 'a deletion needs a uri, at://<did>/<collection>/<rkey>';
  return { kind: 'commit', did, operation: 'delete', collection, rkey, record: undefined };
}

/** The event of a handle that an account has from now on. */
export function buildIdentity(input: unknown): Change | string {
  const did = readDid(input);
  if (did === undefined || !isJsonObject(input) || typeof input['handle'] !== 'string')
    return 'an identity needs a handle';
  return { kind: 'identity', did, detail: { handle: input['handle'] } };
}

/** The event of an account that is active or not, for example `deleted`. */
export function buildAccount(input: unknown): Change | string {
  const did = readDid(input);
  if (did === undefined || !isJsonObject(input)) return 'did and handle are strings';
  const { active = true, status } = input;
  if (typeof active !== 'boolean') return 'active is true or false';
  if (status !== undefined && typeof status !== 'string') return 'status is a string';
  return { kind: 'account', did, detail: { active, ...(status !== undefined && { status }) } };
}

function readDid(input: unknown): string | undefined {
  const { did, handle = defaultHandle } = isJsonObject(input) ? input : {};
  if (typeof did === 'string' && did.startsWith('did:')) return did;
  return did === undefined && typeof handle === 'string' ? didOf(handle) : undefined;
}

const handlePattern = /(?<![\w@])@([a-z0-9-]+(?:\.[a-z0-9-]+)+)/gi;

/** The tags, links and mentions in a text; offsets are UTF-8 bytes. */
export function findFacets(text: string): JsonObject[] {
  const find = (pattern: RegExp, describe: (found: RegExpMatchArray) => JsonObject) =>
    Array.from(text.matchAll(pattern), (found) => {
      const byteStart = Buffer.byteLength(text.slice(0, found.index));
      const byteEnd = byteStart + Buffer.byteLength(found[0]);
      return { byteStart, facet: { features: [describe(found)], index: { byteEnd, byteStart } } };
    });
  const facets = [
    ...find(entityPatterns.hashtag, ([, tag]) => ({ $type: 'app.bsky.richtext.facet#tag', tag })),
    ...find(entityPatterns.link, ([uri]) => ({ $type: 'app.bsky.richtext.facet#link', uri })),
    ...find(handlePattern, ([, handle = '']) => ({
      $type: 'app.bsky.richtext.facet#mention',
      did: didOf(handle),
    })),
  ];
  return facets.toSorted((one, other) => one.byteStart - other.byteStart).map(({ facet }) => facet);
}
