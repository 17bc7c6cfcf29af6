import { createHash } from 'node:crypto';
import { type Match, platformDescriptions } from '@earshot/contract';
import { unhidden } from '@earshot/mcp/visible';
import type { StoredRemoval } from '../readers/match-reader.sql.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { beginning, plain, webAddress } from '../webhooks/formats/chat-content.ts';

/**
 * The content of a feed, for every format. Texts are plain, bounded and not yet escaped, with invisible characters written out: control
 * characters and lone surrogates, which XML cannot contain, are among them.
 */
export interface FeedContent {
  readonly id: string;
  readonly title: string;
  readonly updatedAt: string;
  /** The feed in the console; null if the console has no public address. */
  readonly url: string | null;
  readonly entries: readonly FeedEntry[];
  readonly removals: readonly { readonly id: string; readonly at: string }[];
}

export interface FeedEntry {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** The item: http or https. The match in the console if it has none. */
  readonly url: string | null;
  readonly consoleUrl: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly matchedAt: string;
  readonly language: string | null;
  readonly rule: string;
  readonly source: string;
  readonly match: Pick<Match, 'id' | 'rule_id' | 'platform'>;
  readonly why: readonly string[];
}

const sizes = { title: 200, words: 100, text: 10_000, author: 100, rule: 200, why: 100 };
const whyCount = 10;

interface ContentOptions {
  /** Ids must be unique in the world, and match ids are unique in an installation. */
  readonly installationId: string;
  readonly consoleUrl: string | null;
}

export function feedContent(
  options: ContentOptions,
  feed: { readonly id: string; readonly name: string; readonly modifiedAt: Date },
  found: {
    readonly matches: readonly Match[];
    readonly ruleNames: ReadonlyMap<string, string>;
    readonly removals: readonly Pick<StoredRemoval, 'matchPosition' | 'at'>[];
  },
): FeedContent {
  const { installationId, consoleUrl } = options;
  return {
    id: urnOf(installationId, feed.id),
    title: plain(feed.name, sizes.title),
    updatedAt: feed.modifiedAt.toISOString(),
    url: consoleUrl === null ? null : `${consoleUrl}feed`,
    entries: found.matches.map((match) =>
      toEntry(options, match, found.ruleNames.get(match.rule_id) ?? match.rule_id),
    ),
    removals: found.removals.map(({ matchPosition, at }) => ({
      id: urnOf(installationId, matchIdOf(matchPosition)),
      at: at.toISOString(),
    })),
  };
}

function toEntry(
  { installationId, consoleUrl: base }: ContentOptions,
  match: Match,
  rule: string,
): FeedEntry {
  const { id, rule_id, platform, payload, why, created_at } = match;
  const consoleUrl = base === null ? null : `${base}feed?peek=${id}`;
  const link = uriOf(webAddress(payload.url));
  const source = platformDescriptions[platform].title;
  const text = payload.text?.trim() ? longText(payload.text) : null;
  const title = payload.title?.trim() ? plain(payload.title, sizes.title) : null;
  const words = new Set(why.evidence.slice(0, whyCount).map((one) => plain(one.text, sizes.why)));
  return {
    id: urnOf(installationId, id),
    title: title || firstWords(payload.text ?? '') || link || `${source}: ${id}`,
    text: text || title || link || '(no text)',
    url: link ?? consoleUrl,
    consoleUrl,
    author: authorOf(payload.author),
    publishedAt: rfc3339(payload.published_at),
    matchedAt: created_at,
    language: payload.language !== null && languageTag.test(payload.language) ? payload.language : null,
    rule: plain(rule, sizes.rule) || rule_id,
    source,
    match: { id, rule_id, platform },
    why: [...words].filter(Boolean),
  };
}

const languageTag = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/;

/** Browsers accept more than RFC 3986, which both formats require: for example brackets, and a second `#`. */
function uriOf(address: string | null): string | null {
  const url = URL.parse(address ?? '');
  if (url === null) return null;
  const [path = '', ...fragment] = url.href.slice(url.origin.length).split('#');
  const rest = fragment.length === 0 ? path : `${path}#${fragment.join('%23')}`;
  return url.origin + rest.replace(/[^\w.~:/?#@!$&'()*+,;=%-]|%(?![0-9A-Fa-f]{2})/g, encodeURIComponent);
}

/** Cut twice, because written-out invisible characters are longer. */
function longText(text: string): string {
  const cut = beginning(unhidden(beginning(text, sizes.text), { lines: true }), sizes.text);
  return beginning(text, sizes.text).length < text.length ? `${cut}…` : cut;
}

function firstWords(text: string): string {
  return plain(text, sizes.words).replace(/(?<=\S)\s+\S*…$/u, '…');
}

function authorOf(author: Match['payload']['author']): string | null {
  if (author === null) return null;
  const name = plain(author.name ?? '', sizes.author);
  const handle = plain(author.handle ?? '', sizes.author);
  if (name && handle) return `${name} (@${handle})`;
  return name || (handle && `@${handle}`) || plain(author.id, sizes.author) || null;
}

/** The platform's time, if it is one that RFC 3339 can express. */
function rfc3339(time: string | null): string | null {
  const ms = Date.parse(time ?? '');
  const iso = Number.isNaN(ms) ? '' : new Date(ms).toISOString();
  return iso.length === 24 ? iso : null;
}

/** A UUID (version 8) from a hash: the same whatever the address of the installation is. */
function urnOf(installationId: string, id: string): string {
  const bytes = createHash('sha256').update(`earshot ${installationId} ${id}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
