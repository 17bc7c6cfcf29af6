import type { FeedContent, FeedEntry } from './feed-content.ts';
import type { FeedFormat } from './feed-token.ts';

interface RenderedFeed {
  readonly contentType: string;
  readonly render: (content: FeedContent) => string;
}

/*
 * Neither format has its own URL (`self`, `feed_url`): it is a secret, and feed readers share what a feed contains.
 */
export const formats: Readonly<Record<FeedFormat, RenderedFeed>> = {
  atom: { contentType: 'application/atom+xml; charset=utf-8', render: renderAtom },
  json: { contentType: 'application/feed+json; charset=utf-8', render: renderJsonFeed },
};

/** RFC 4287, with removed matches by RFC 6721. */
function renderAtom({ id, title, updatedAt, url, entries, removals }: FeedContent): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
${lines([
  element('id', id),
  element('title', title),
  element('updated', updatedAt),
  '<author><name>Earshot</name></author>',
  '<generator>Earshot</generator>',
  url && link('alternate', url),
  // The grammar of RFC 4287 has extensions before entries.
  ...removals.map((one) => `<at:deleted-entry ref="${escape(one.id)}" when="${escape(one.at)}"/>`),
  ...entries.map(atomEntry),
])}
</feed>
`;
}

function atomEntry(entry: FeedEntry): string {
  const { id, title, text, url, consoleUrl, author, publishedAt, matchedAt, rule, source } = entry;
  return `<entry>
${lines([
  element('id', id),
  element('title', title),
  element('updated', matchedAt),
  publishedAt && element('published', publishedAt),
  author && `<author>${element('name', author)}</author>`,
  url && link('alternate', url),
  consoleUrl && consoleUrl !== url && link('related', consoleUrl),
  `<category term="${escape(rule)}"/>`,
  `<category term="${escape(source)}"/>`,
  `<content type="text">${escape(text)}</content>`,
])}
</entry>`;
}

const lines = (parts: readonly (string | null | false)[]) => parts.filter(Boolean).join('\n');
const element = (name: string, text: string) => `<${name}>${escape(text)}</${name}>`;
const link = (rel: string, href: string) => `<link rel="${rel}" href="${escape(href)}"/>`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '');
}

/** JSON Feed 1.1. */
function renderJsonFeed({ title, url, entries }: FeedContent): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title,
    ...(url !== null && { home_page_url: url }),
    items: entries.map(({ match, why, ...entry }) => ({
      id: entry.id,
      ...(entry.url !== null && { url: entry.url }),
      title: entry.title,
      content_text: entry.text,
      ...(entry.publishedAt !== null && { date_published: entry.publishedAt }),
      date_modified: entry.matchedAt,
      ...(entry.author !== null && { authors: [{ name: entry.author }] }),
      tags: [entry.rule, entry.source],
      ...(entry.language !== null && { language: entry.language }),
      _earshot: { match_id: match.id, rule_id: match.rule_id, platform: match.platform, why },
    })),
  });
}
