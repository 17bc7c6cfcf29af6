import {
  type HiddenMatches,
  type Match,
  type Notice,
  type Platform,
  platformDescriptions,
} from '@earshot/contract';
import { unhidden } from '@earshot/mcp/visible';

/**
 * The content of a chat message, for every chat. Texts are plain: short, on one line, with invisible characters
 * written out, not yet escaped. Everything in `lines` and `items` may be untrusted content; `heading` never is.
 */
export interface ChatContent {
  readonly heading: string;
  readonly lines: readonly string[];
  readonly items: readonly ChatItem[];
  /** Matches that are counted but not shown. */
  readonly more: number;
  readonly removals: number;
  readonly hidden: HiddenMatches;
  readonly severity: Notice['severity'] | null;
}

/** A match as a chat shows it. */
export interface ChatItem {
  readonly id: string;
  readonly rule: string;
  readonly platform: string;
  readonly author: string | null;
  readonly title: string | null;
  readonly text: string | null;
  /** The words that matched. */
  readonly why: string | null;
  readonly url: string | null;
}

/** Matches that one message shows; others are counted. Discord's limit for embeds. */
export const chatItemsMax = 10;

const sizes = { rule: 80, name: 60, handle: 40, title: 200, text: 400, why: 40, line: 1_000 };
const whyCount = 4;

/** The parts of a match that a chat shows, unshortened. */
interface MatchParts {
  readonly id: string;
  readonly rule_id: string;
  readonly platform: Platform;
  readonly author: { readonly name: string | null; readonly handle: string | null } | null;
  readonly title: string | null;
  readonly text: string | null;
  readonly url: string | null;
  readonly why: readonly string[];
}

export function chatItemOf({ payload, why, ...match }: Match, ruleName: string): ChatItem {
  return chatItem({ ...match, ...payload, why: why.evidence.map((one) => one.text) }, ruleName);
}

export function chatItem(match: MatchParts, ruleName: string): ChatItem {
  const { id, rule_id, platform, author, title, text, why, url } = match;
  const words = new Set(why.slice(0, whyCount).map((word) => plain(word, sizes.why)));
  const names = [
    author?.name && plain(author.name, sizes.name),
    author?.handle && `@${plain(author.handle, sizes.handle)}`,
  ];
  return {
    id,
    rule: plain(ruleName, sizes.rule) || rule_id,
    platform: platformDescriptions[platform].title,
    author: names.filter(Boolean).join(' ') || null,
    title: (title && plain(title, sizes.title)) || null,
    text: (text && plain(text, sizes.text)) || null,
    why: [...words].filter(Boolean).join(', ') || null,
    url: webAddress(url),
  };
}

/** The stored body of a chat batch: only the shown parts of matches. */
export interface ChatBatch {
  readonly type: 'matches';
  readonly webhook_id: string;
  readonly matches: readonly ChatItem[];
  readonly more: number;
  readonly removals: number;
  readonly hidden?: HiddenMatches;
}

/** A digest, with its counts and its coverage as lines. */
export interface ChatDigest {
  readonly type: 'digest';
  readonly heading: string;
  readonly lines: readonly string[];
  readonly matches: readonly ChatItem[];
  readonly more: number;
}

type Message =
  | ChatBatch
  | ChatDigest
  | { readonly type: 'notice'; readonly notice: Notice }
  | { readonly type: 'test' };

export function chatContentOf(message: Message): ChatContent {
  const hidden = { muted: 0, not_relevant: 0 };
  const empty = { items: [], lines: [], more: 0, removals: 0, hidden, severity: null };
  switch (message.type) {
    case 'matches': {
      const { matches: items, more, removals } = message;
      const count = items.length + more;
      const heading = count === 0 ? 'Matches were removed' : counted(count, 'match', 'matches');
      return {
        ...empty,
        heading: `Earshot: ${heading}`,
        items,
        more,
        removals,
        hidden: message.hidden ?? hidden,
      };
    }
    case 'digest': {
      const { heading, lines, matches: items, more } = message;
      return { ...empty, heading, lines, items, more };
    }
    case 'notice': {
      const { severity, type, subject, what_to_do, resolved_at } = message.notice;
      const about = `${subject.kind} ${subject.name}${resolved_at === null ? '' : ' (resolved)'}`;
      const lines = [about, what_to_do].map((line) => plain(line, sizes.line));
      return { ...empty, heading: `Earshot: ${severity}: ${type}`, lines, severity };
    }
    case 'test':
      return { ...empty, heading: 'Earshot: a test message', lines: ['This webhook posts here.'] };
  }
}

/** The last lines of a message that shows only some matches. Trusted text. */
export function endLines({ items, more, removals, hidden }: ChatContent, shown: number): string[] {
  const others = items.length - shown + more;
  const { in_story = 0 } = hidden;
  return [
    ...(others > 0 ? [`and ${others.toLocaleString('en')} more`] : []),
    ...(hidden.muted > 0 ? [`${counted(hidden.muted, 'match is', 'matches are')} muted`] : []),
    ...(hidden.not_relevant > 0
      ? [`${counted(hidden.not_relevant, 'match is', 'matches are')} not relevant`]
      : []),
    ...(in_story > 0 ? [`${counted(in_story, 'match is', 'matches are')} of the same stories`] : []),
    ...(removals > 0 ? [`${counted(removals, 'match was', 'matches were')} removed`] : []),
  ];
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The beginning of a text, on one line. It is cut twice, because written-out invisible characters are longer. */
export function plain(text: string, size: number): string {
  const line = onOneLine(unhidden(beginning(text, size), { lines: true }));
  const cut = unhidden(beginning(line, size));
  return cut.length < line.length || beginning(text, size).length < text.length ? `${cut}…` : cut;
}

const onOneLine = (text: string) => text.trim().replace(/\s*\n\s*/g, ' / ');

/** The first characters, without splitting one. */
export function beginning(text: string, count: number): string {
  // A character has at most two code units.
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}

const addressLengthMax = 2_000;

/**
 * A URL that is safe as a link: http or https, without credentials, normalised so that it has no invisible
 * characters.
 */
export function webAddress(text: string | null): string | null {
  const url = URL.parse(text ?? '');
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  if (url.username !== '' || url.password !== '' || url.href.length > addressLengthMax) return null;
  return url.href;
}
