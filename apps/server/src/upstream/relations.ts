import type { Item } from './item.ts';

/** How an item refers to a post of its platform. `same_page`: both are versions of one post. */
export type ReferenceKind = 'same_page' | 'repost' | 'quote' | 'reply' | 'conversation';

/** What relates an item to other items. Items of the same story share some of it (stories/). */
export interface Relations {
  /** When the item was published or changed, by the item itself; null if it does not say. */
  readonly at: string | null;
  /** The id by which posts refer to this item; null if none do. */
  readonly post: string | null;
  /** The address of the item, if it is a page. */
  readonly page: string | null;
  /** The most certain first. */
  readonly references: ReadonlyArray<{ readonly kind: ReferenceKind; readonly post: string }>;
  /** Addresses to which the item links. */
  readonly links: readonly string[];
}

export type RelatedItem = Pick<Item, 'key' | 'payload' | 'platformPostId'>;

/** An item may hold anything: what has another form is left out. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = valueAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : null;
}

function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined;
  }
  return found;
}
