import type { Platform, StoryReason } from '@earshot/contract';
import type { Item } from '../upstream/item.ts';
import { platforms } from '../upstream/platforms.ts';
import { canonicalUrl } from './canonical-url.ts';
import { copiedText } from './copied-text.ts';
import { hashText } from './hash-text.ts';

export const keysMax = 8;
/** An item with more links is a list of stories, which it would merge. */
export const linksMax = 3;
const urlLengthMax = 2_000;

/** What an item shares with others of its story, and why that makes them the same story. */
export interface StoryKey {
  readonly because: Exclude<StoryReason, 'first' | 'merged'>;
  /** 64 bits, as PostgreSQL writes a bigint. */
  readonly key: string;
}

export interface StoryItem {
  /** The first is the item itself. The most certain are before the others. */
  readonly keys: readonly StoryKey[];
  /** On the item's own day. A replay has the same time. */
  readonly atMs: number;
}

type KeyedItem = Pick<Item, 'platform' | 'key' | 'day' | 'payload' | 'platformPostId'> & {
  readonly receivedMs?: number;
};

/** Pure. */
export function storyItemOf(event: KeyedItem): StoryItem {
  const { platform, day, key: eventKey, payload, receivedMs } = event;
  const { at, post, page, references, links } = platforms[platform].relationsOf(event);
  const keys = new Map<string, StoryKey['because']>();
  const add = (because: StoryKey['because'], name: string) => {
    if (!keys.has(name)) keys.set(name, because);
  };
  const ownPage = page === null ? null : keyOfUrl(page);
  const own = post === null ? ownPage : keyOfPost(platform, post);
  add('same_page', own ?? `item ${platform} ${eventKey}`);
  for (const reference of references) add(reference.kind, keyOfPost(platform, reference.post));
  const linked = new Set(links.slice(0, 4 * keysMax).map(keyOfUrl));
  if (linked.size <= linksMax) for (const name of linked) if (name !== null) add('same_url', name);
  const isRepost = references.some(({ kind }) => kind === 'repost');
  const copied = isRepost ? null : copiedText([payload.title, payload.text].filter(Boolean).join('\n'));
  if (copied !== null && keys.size < keysMax) add('copy', `copy ${copied}`);
  const ms = Date.parse(at ?? '') || (receivedMs ?? Number.NaN);
  return {
    keys: [...keys].slice(0, keysMax).map(([name, because]) => ({ because, key: hashText(name) })),
    atMs: isOnDay(ms, day) ? ms : Date.parse(day),
  };
}

const keyOfPost = (platform: Platform, post: string) => `post ${platform} ${post}`;

/** A link to a post counts as that post. */
function keyOfUrl(text: string): string | null {
  const url = text.length > urlLengthMax ? null : URL.parse(text);
  if (url === null || !url.protocol.startsWith('http')) return null;
  for (const platform of linkable) {
    const post = platforms[platform].postOfUrl(url);
    if (post !== null) return keyOfPost(platform, post);
  }
  const address = canonicalUrl(url);
  return address === null ? null : `url ${address}`;
}

const linkable = Object.keys(platforms) as Platform[];

const isOnDay = (ms: number, day: string) =>
  !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === day;
