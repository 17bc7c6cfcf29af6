import type { ExamplePayload } from '../example-payload.ts';
import { entityPatterns } from './entity-patterns.ts';

/** The id of an author whose id the example does not give. */
const someone = 'someone';

/**
 * The post that an example describes, as X would deliver it: an original post with exactly this text, from which its
 * tags, mentions and links are taken. Fields that the example omits decide nothing.
 */
export function examplePost({ text, author, language, published_at }: ExamplePayload): object {
  const { hashtag, cashtag, mention, link } = entityPatterns;
  const content = text ?? '';
  const authorId = author ? (author.id ?? someone) : undefined;
  return {
    data: {
      id: '1',
      text: content,
      lang: language ?? undefined,
      created_at: published_at ?? undefined,
      author_id: authorId,
      entities: {
        hashtags: Array.from(content.matchAll(hashtag), ([, tag]) => ({ tag })),
        cashtags: Array.from(content.matchAll(cashtag), ([, tag]) => ({ tag })),
        mentions: Array.from(content.matchAll(mention), ([, username]) => ({ username })),
        urls: Array.from(content.matchAll(link), ([url]) => ({ url, expanded_url: url })),
      },
    },
    includes: {
      users: author
        ? [{ id: authorId, username: author.handle ?? undefined, name: author.name ?? undefined }]
        : [],
    },
  };
}
