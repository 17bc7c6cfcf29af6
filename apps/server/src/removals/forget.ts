import { type Platform, platforms } from '@earshot/contract';
import type { Database } from '../engines/database.ts';
import { readEvent } from '../event-log/event-consumer.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import { type ItemName, isNameable, namesOf } from '../matching/match-store.sql.ts';
import { partitionDays } from '../matching/partitions.ts';
import { type RemovalCounts, removeItems } from './remove-items.ts';
import { recordTombstones } from './tombstones.sql.ts';

const postsAtOnceMax = 10_000;
const lettersAtOnceMax = 1_000;

/** A request to forget: one item by its id or URL, or an author by id or handle. */
export type ForgetRequest =
  | { readonly post: string }
  | { readonly url: string }
  /** With `@` it is a handle; digits only are an id; anything else may be either. */
  | { readonly author: string };

export interface Progress extends RemovalCounts {
  readonly day: string;
}

/**
 * Searches everything that is stored, page by page. No index leads from an author or a URL to items, and such requests are too rare for
 * one. The event log is not searched: the tombstone prevents that its events are stored.
 */
export async function forget(
  database: Database,
  request: ForgetRequest,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<RemovalCounts> {
  const sum = { items: 0, matches: 0 };
  const names = toNames(request);
  // The list grows: a handle leads to the author's id, which may have items with an older handle.
  for (const name of names) {
    const until = await recordTombstones(database, [name], { on: platforms, reason: 'forgotten' });
    const isMeant = (item: NamedItem) => hasName(item, name, until);
    for (const day of await partitionDays(database)) {
      for await (const found of findItems(database, day, { name, isMeant })) {
        for (const { payload } of found) addAuthor(names, name, payload.author?.id);
        const items = found.map(({ platform, key }) => ({ platform, eventKey: key }));
        const removed = await removeItems(database, day, { items, reason: 'forgotten' });
        sum.items += removed.items;
        sum.matches += removed.matches;
        onProgress({ day, ...sum });
      }
    }
    await removeDeadLetters(database, name, isMeant);
  }
  return sum;
}

function toNames(request: ForgetRequest): ItemName[] {
  if ('post' in request) return [{ kind: 'item', value: request.post }];
  if ('url' in request) return [{ kind: 'item', value: request.url }];
  const { author } = request;
  const handle = `@${author.replace(/^@/, '').toLowerCase()}`;
  const values = author.startsWith('@') ? [handle] : /^\d+$/.test(author) ? [author] : [author, handle];
  return values.map((value) => ({ kind: 'author', value }));
}

function addAuthor(names: ItemName[], { kind, value }: ItemName, id: string | undefined): void {
  if (kind !== 'author' || !value.startsWith('@') || id === undefined) return;
  if (!names.some((name) => name.value === id)) names.push({ kind, value: id });
}

type NamedItem = Pick<LogEvent, 'platform' | 'key' | 'platformPostId' | 'payload'>;

/** Decides like the match transaction. */
function hasName(item: NamedItem, { kind, value }: ItemName, until: Date): boolean {
  if (kind === 'author' && Date.parse(item.payload.published_at ?? '') > until.getTime()) return false;
  return namesOf(item).some((name) => name.kind === kind && name.value === value);
}

interface Search {
  readonly name: ItemName;
  readonly isMeant: (item: NamedItem) => boolean;
}

interface PostRow {
  platform: Platform;
  event_key: string;
  platform_post_id: string;
  payload: string | null;
}

/** Pages of a day's items. Items that do not contain the name anywhere are not read. */
async function* findItems(database: Database, day: string, search: Search): AsyncGenerator<NamedItem[]> {
  const { words, has } = occurrencesOf(search.name);
  let after = ['', ''];
  for (;;) {
    const rows = await database.many<PostRow>(
      `select platform, event_key, platform_post_id,
         case when platform_post_id = $6 or ${has('payload', '$5')} then payload end as payload
       from posts where event_day = $1 and (event_key, platform) > ($2, $3) order by event_key, platform limit $4`,
      [day, ...after, postsAtOnceMax, words, search.name.value],
    );
    const items = rows.flatMap(({ payload, ...row }): NamedItem[] => {
      if (payload === null) return [];
      const { platform, event_key: key, platform_post_id: platformPostId } = row;
      return [{ platform, key, platformPostId, payload: JSON.parse(payload) }];
    });
    const found = items.filter(search.isMeant);
    if (found.length > 0) yield found;
    const last = rows.at(-1);
    if (!last || rows.length < postsAtOnceMax) return;
    after = [last.event_key, last.platform];
  }
}

/** The JSON text of every item with the name, and the SQL condition that finds it. Handles may be written in any case. */
function occurrencesOf({ kind, value }: ItemName) {
  const isHandle = kind === 'author' && value.startsWith('@');
  return {
    words: JSON.stringify(isHandle ? value.slice(1) : value).slice(1, -1),
    has: (column: string, words: string) =>
      `strpos(${isHandle ? `lower(${column})` : column}, ${words}::text) > 0`,
  };
}

/** Also removes dead letters that are not valid events, if they contain the name. */
async function removeDeadLetters(
  database: Database,
  name: ItemName,
  isMeant: Search['isMeant'],
): Promise<void> {
  const { words, has } = occurrencesOf(name);
  let after = 0;
  for (;;) {
    const letters = await database.many<{ id: number; body: string }>(
      `select id, body from dead_letters where id > $1 and ${has('body', '$2')} order by id limit $3`,
      [after, words, lettersAtOnceMax],
    );
    for (const { id, body } of letters) {
      const event = readEvent(body);
      const isKept = isNameable(event) && !isMeant(event);
      if (!isKept) await database.run('delete from dead_letters where id = $1', [id]);
    }
    const last = letters.at(-1);
    if (!last || letters.length < lettersAtOnceMax) return;
    after = last.id;
  }
}
