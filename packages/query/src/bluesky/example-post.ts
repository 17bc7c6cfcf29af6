import type { ExamplePayload } from '../example-payload.ts';
import { entityPatterns } from '../x/entity-patterns.ts';

const handle = /(?<![^\s(])@((?:[a-z0-9-]+\.)+[a-z]{2,})/giu;

/**
 * The post that an example describes, as Bluesky would deliver it: an original post with exactly this text, from which its
 * tags, mentions and links are taken. Fields that the example omits decide nothing.
 */
export function exampleBlueskyPost({ text, author, language }: ExamplePayload): object {
  const content = text ?? '';
  const facets = (pattern: RegExp, feature: (found: string) => object) =>
    Array.from(content.matchAll(pattern), ({ 0: whole, 1: name, index }) => ({
      index: { byteStart: bytesBefore(content, index), byteEnd: bytesBefore(content, index + whole.length) },
      features: [feature(name ?? whole)],
    }));
  return {
    did: author?.id ?? undefined,
    record: {
      $type: 'app.bsky.feed.post',
      text: text ?? null,
      langs: language == null ? null : [language],
      facets: [
        ...facets(entityPatterns.hashtag, (tag) => ({ $type: 'app.bsky.richtext.facet#tag', tag })),
        ...facets(entityPatterns.link, (uri) => ({ $type: 'app.bsky.richtext.facet#link', uri })),
        // The example does not name the DID.
        ...facets(handle, () => ({ $type: 'app.bsky.richtext.facet#mention' })),
      ],
    },
  };
}

function bytesBefore(text: string, at: number): number {
  return new TextEncoder().encode(text.slice(0, at)).length;
}
