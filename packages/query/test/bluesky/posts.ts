import { blueskyLanguage } from '../../src/bluesky/language.ts';
import type { Node } from '../../src/index.ts';
import { pick, type Random } from '../x/generate.ts';

export type Json = Record<string, unknown>;

/** A facet over the first occurrence of the words in the text, as clients write it. */
export function facet(text: string, words: string, feature: Json): Json {
  const at = text.indexOf(words);
  if (at < 0) throw new Error(`"${words}" is not in the text`);
  const bytes = (part: string) => new TextEncoder().encode(part).length;
  const byteStart = bytes(text.slice(0, at));
  return { index: { byteStart, byteEnd: byteStart + bytes(words) }, features: [feature] };
}

export const tagFeature = (tag: unknown) => ({ $type: 'app.bsky.richtext.facet#tag', tag });
export const linkFeature = (uri: unknown) => ({ $type: 'app.bsky.richtext.facet#link', uri });
export const mentionFeature = (did: unknown) => ({ $type: 'app.bsky.richtext.facet#mention', did });

export const dids = {
  ada: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
  bo: 'did:plc:z72i7hdynmk6r22z27h6tvur',
  cleo: 'did:web:cleo.example.com',
} as const;

export const postUri = (did: string) => `at://${did}/app.bsky.feed.post/3l6oveex3ii2l`;

export function payload(record: unknown, did: unknown = dids.ada): Json {
  return { did, time: '2026-01-01T00:00:00.000000Z', rkey: '3l6oveex3ii2l', cid: 'bafyrei', record };
}

const words = ['glacier', 'lake', 'ice', 'Snow', 'café', '氷河', 'ice氷河', '河', '🔥', 'a', '2026'] as const;
const handles = ['ada.example.com', 'bo.bsky.social'] as const;
const tags = ['ice', 'Snow', 'fjordlight'] as const;
const languages = ['en', 'en-US', 'de', 'nb', 'zh-Hans'] as const;
const links = [
  'https://example.com/ice',
  'https://news.example/Lake/2026',
  'https://a.example/氷河',
] as const;
const embeds: readonly (Json | null)[] = [
  null,
  null,
  { $type: 'app.bsky.embed.images', images: [{ alt: '', image: {} }] },
  { $type: 'app.bsky.embed.external', external: { uri: links[1], title: 'glacier', description: '' } },
  { $type: 'app.bsky.embed.record', record: { uri: postUri(dids.bo), cid: 'b' } },
  {
    $type: 'app.bsky.embed.recordWithMedia',
    record: { $type: 'app.bsky.embed.record', record: { uri: postUri(dids.bo), cid: 'b' } },
    media: { $type: 'app.bsky.embed.images', images: [{ alt: '', image: {} }] },
  },
];

const clauses: readonly ((random: Random) => string)[] = [
  (random) => `"${pick(random, words)}"`,
  (random) => `"${pick(random, words)}"`,
  (random) => `"${pick(random, words)} ${pick(random, words)}"`,
  (random) => `"${pick(random, words)} ${pick(random, words)}"~${1 + Math.floor(random() * 6)}`,
  (random) => `#${pick(random, tags)}`,
  (random) => `@${pick(random, [...handles, dids.bo])}`,
  (random) => `${pick(random, ['from', 'to'])}:${pick(random, Object.values(dids))}`,
  (random) => `url:"${pick(random, ['example', 'ice', 'lake 2026', '河'])}"`,
  (random) => `lang:${pick(random, ['en', 'en-us', 'de', 'no', 'zh'])}`,
  (random) =>
    pick(random, ['has:links', 'has:images', 'has:mentions', 'has:hashtags', 'is:reply', 'is:quote']),
];

/** Any tree of the grammar, also one that validation refuses. */
export function randomRule(random: Random, depth = 2): string {
  const roll = random();
  if (depth === 0 || roll < 0.3) return pick(random, clauses)(random);
  if (roll < 0.45) return `-(${randomRule(random, depth - 1)})`;
  const parts = Array.from({ length: 2 + Math.floor(random() * 2) }, () => randomRule(random, depth - 1));
  return parts.map((part) => `(${part})`).join(roll < 0.7 ? ' ' : ' OR ');
}

export function rootOf(rule: string): Node {
  const { root } = blueskyLanguage.parse(rule);
  if (root === null) throw new Error(`no tree: ${rule}`);
  return root;
}

/** The terms of a post. Changing one of them makes a near miss. */
export interface Terms {
  readonly words: readonly string[];
  readonly gap: string;
  readonly did: string;
  readonly langs: readonly string[];
  readonly tags: readonly string[];
  readonly handle: string | undefined;
  readonly link: string | undefined;
  readonly parent: string | undefined;
  readonly embed: Json | null;
}

const makers: { readonly [Term in keyof Terms]: (random: Random) => Terms[Term] } = {
  words: (random) => Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(random, words)),
  gap: (random) => pick(random, [' ', ' ', ', ', '-', '']),
  did: (random) => pick(random, Object.values(dids)),
  langs: (random) => (random() < 0.2 ? [] : [pick(random, languages)]),
  tags: (random) => (random() < 0.6 ? [] : [pick(random, tags)]),
  handle: (random) => (random() < 0.7 ? undefined : pick(random, handles)),
  link: (random) => (random() < 0.7 ? undefined : pick(random, links)),
  parent: (random) => (random() < 0.6 ? undefined : pick(random, Object.values(dids))),
  embed: (random) => pick(random, embeds),
};

export function randomTerms(random: Random): Terms {
  const entries = Object.entries(makers).map(([term, make]) => [term, make(random)]);
  return Object.fromEntries(entries) as Terms;
}

/** The same with one term changed: one word of the text, or another field. */
export function withChange(random: Random, terms: Terms): Terms {
  if (random() < 0.5) {
    const at = Math.floor(random() * terms.words.length);
    return { ...terms, words: terms.words.with(at, pick(random, words)) };
  }
  const term = pick(random, Object.keys(makers) as (keyof Terms)[]);
  return { ...terms, [term]: makers[term](random) };
}

export function postOf({
  words: written,
  gap,
  did,
  langs,
  tags: tagged,
  handle,
  link,
  parent,
  embed,
}: Terms) {
  const marks = [
    ...tagged.map((tag) => `#${tag}`),
    ...(handle ? [`@${handle}`] : []),
    ...(link ? [link] : []),
  ];
  const text = [written.join(gap), ...marks].join(' ');
  const facets = [
    ...tagged.map((tag) => facet(text, `#${tag}`, tagFeature(tag))),
    ...(handle ? [facet(text, `@${handle}`, mentionFeature(dids.bo))] : []),
    ...(link ? [facet(text, link, linkFeature(link))] : []),
  ];
  return payload(
    {
      $type: 'app.bsky.feed.post',
      text,
      langs,
      facets,
      ...(parent && { reply: { root: { uri: postUri(parent) }, parent: { uri: postUri(parent) } } }),
      ...(embed && { embed }),
    },
    did,
  );
}

const wrong = [null, 5, 'x', [], {}, [null], { $type: 7 }, '\ud800', true] as const;

/** The same with one value, at any depth, of a wrong type. */
export function withDamage(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random() < 0.15) return pick(random, wrong);
  const keys = Object.keys(value);
  const key = keys[Math.floor(random() * keys.length)];
  if (key === undefined) return pick(random, wrong);
  const inner = (value as Json)[key];
  const damaged = withDamage(random, inner);
  return Array.isArray(value) ? value.with(Number(key), damaged) : { ...value, [key]: damaged };
}
