import { readFileSync } from 'node:fs';
import { RelaxNGValidator, XmlDocument, type XmlElement } from 'libxml2-wasm';
import { z } from 'zod';

const schema = readFileSync(new URL('feed-schemas/atom.rng', import.meta.url));

export interface AtomEntry {
  readonly id: string;
  readonly title: string;
  readonly content: string;
  readonly author: string | null;
  readonly published: string | null;
  readonly links: readonly { readonly rel: string; readonly href: string }[];
  readonly categories: readonly string[];
}

/** Parses an Atom feed as libxml2 does: throws unless it is well-formed, and valid by RFC 4287. */
export function parseAtom(text: string) {
  using document = XmlDocument.fromString(text);
  using grammar = XmlDocument.fromBuffer(schema);
  using validator = RelaxNGValidator.fromDoc(grammar);
  validator.validate(document);
  const names = { a: 'http://www.w3.org/2005/Atom', at: 'http://purl.org/atompub/tombstones/1.0' };
  const textOf = (from: XmlElement, path: string) => from.get(path, names)?.content ?? null;
  const attributes = (from: XmlElement, path: string) => from.find(path, names).map((one) => one.content);
  const { root } = document;
  const entries = root.find('a:entry', names).map((node): AtomEntry => {
    const entry = node as XmlElement;
    const hrefs = attributes(entry, 'a:link/@href');
    return {
      id: textOf(entry, 'a:id') ?? '',
      title: textOf(entry, 'a:title') ?? '',
      content: textOf(entry, 'a:content') ?? '',
      author: textOf(entry, 'a:author/a:name'),
      published: textOf(entry, 'a:published'),
      links: attributes(entry, 'a:link/@rel').map((rel, index) => ({ rel, href: hrefs[index] ?? '' })),
      categories: attributes(entry, 'a:category/@term'),
    };
  });
  const ids = entries.map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new Error('two entries have the same id');
  return {
    id: textOf(root, 'a:id'),
    title: textOf(root, 'a:title'),
    updated: textOf(root, 'a:updated'),
    entries,
    deleted: attributes(root, 'at:deleted-entry/@ref'),
  };
}

const nonEmpty = z
  .string()
  .regex(/\S/)
  .refine((text) => text.isWellFormed(), 'has a lone surrogate');
const webUrl = z.url({ protocol: /^https?$/ });
const time = z.iso.datetime();

/** JSON Feed 1.1, strict: a field that is misspelt is refused. Extensions begin with an underscore. */
const jsonFeed = z.strictObject({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  title: nonEmpty,
  home_page_url: webUrl.optional(),
  items: z.array(
    z.strictObject({
      id: nonEmpty,
      url: webUrl.optional(),
      title: nonEmpty.optional(),
      content_text: nonEmpty,
      date_published: time.optional(),
      date_modified: time.optional(),
      authors: z
        .array(z.strictObject({ name: nonEmpty }))
        .min(1)
        .optional(),
      tags: z.array(nonEmpty).optional(),
      language: z
        .string()
        .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)
        .optional(),
      _earshot: z.strictObject({
        match_id: z.string().regex(/^mat_/),
        rule_id: nonEmpty,
        platform: z.string(),
        why: z.array(nonEmpty),
      }),
    }),
  ),
});

export function parseJsonFeed(text: string) {
  return jsonFeed.parse(JSON.parse(text));
}
