import { listAt, type ReferenceKind, type RelatedItem, type Relations, textAt } from '../relations.ts';

const kinds: ReadonlyMap<string | null, ReferenceKind> = new Map([
  ['retweeted', 'repost'],
  ['quoted', 'quote'],
  ['replied_to', 'reply'],
]);

/** Links of a long post are in its note. `unwound_url` is where a shortened link leads. */
export function relationsOfPost({ key, payload }: RelatedItem): Relations {
  const { raw, published_at, edit_of } = payload;
  const conversation = textAt(raw, 'data', 'conversation_id');
  const urls = [
    ...listAt(raw, 'data', 'entities', 'urls'),
    ...listAt(raw, 'data', 'note_tweet', 'entities', 'urls'),
  ];
  return {
    at: published_at,
    post: key,
    page: null,
    references: [
      ...(edit_of === undefined ? [] : [{ kind: 'same_page', post: edit_of } as const]),
      ...listAt(raw, 'data', 'referenced_tweets').flatMap((one) => {
        const [kind, post] = [kinds.get(textAt(one, 'type')), textAt(one, 'id')];
        return kind && post !== null ? [{ kind, post }] : [];
      }),
      ...(conversation === null ? [] : [{ kind: 'conversation', post: conversation } as const]),
    ],
    links: urls.flatMap((url) => textAt(url, 'unwound_url') ?? textAt(url, 'expanded_url') ?? []),
  };
}

/** The id of the post at this address; null if it is another page. */
export function postOfXUrl({ hostname, pathname }: URL): string | null {
  if (!/^(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com$/.test(hostname)) return null;
  return /^\/(?:i\/web|[^/]+)\/status(?:es)?\/([0-9]{1,19})(?:\/|$)/.exec(pathname)?.[1] ?? null;
}
