import { listAt, type ReferenceKind, type RelatedItem, type Relations, textAt } from '../relations.ts';
import { postCollection } from './commit.ts';

export function relationsOfPost({ payload, platformPostId }: RelatedItem): Relations {
  const { raw, published_at } = payload;
  const refer = (kind: ReferenceKind, uri: string | null) => {
    const post = uri === null ? null : postOfUri(uri);
    return post === null ? [] : [{ kind, post }];
  };
  const embedded = (...path: string[]) => textAt(raw, 'record', 'embed', ...path);
  const external = [embedded('external', 'uri'), embedded('media', 'external', 'uri')];
  const features = listAt(raw, 'record', 'facets').flatMap((facet) => listAt(facet, 'features'));
  return {
    at: published_at,
    post: postOfUri(platformPostId),
    page: null,
    references: [
      ...refer('quote', embedded('record', 'uri') ?? embedded('record', 'record', 'uri')),
      ...refer('reply', textAt(raw, 'record', 'reply', 'parent', 'uri')),
      ...refer('conversation', textAt(raw, 'record', 'reply', 'root', 'uri')),
    ],
    links: [...external, ...features.map((one) => textAt(one, 'uri'))].filter((url) => url !== null),
  };
}

/** A key with the time in microseconds. It names the post also where an address has the handle of the author. */
const timeKey = /^[2-7a-z]{13}$/;

const toPost = (author: string, key: string) => (timeKey.test(key) ? key : `${author}/${key}`);

function postOfUri(uri: string): string | null {
  const [, author = '', collection, key = ''] = /^at:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(uri) ?? [];
  return collection === postCollection ? toPost(author, key) : null;
}

/** The post at this address; null if it is another page. */
export function postOfBlueskyUrl({ hostname, pathname }: URL): string | null {
  if (!/^(?:www\.)?bsky\.app$/.test(hostname)) return null;
  const [, author = '', key] = /^\/profile\/([^/]+)\/post\/([^/]+)\/?$/.exec(pathname) ?? [];
  return key === undefined ? null : toPost(author, key);
}
