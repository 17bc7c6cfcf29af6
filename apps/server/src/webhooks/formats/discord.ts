import { type ChatContent, type ChatItem, endLines } from './chat-content.ts';

/** Limit for all embeds of a message. */
const charactersMax = 6_000;
const embedsMax = 10;
const colors = { info: 0x5865f2, warning: 0xfee75c, critical: 0xed4245 } as const;

/**
 * Untrusted content appears only in embed descriptions, with all punctuation escaped: embeds mention no users, and no
 * link, mention or markup remains. `content`, which Discord also scans for invitations, has only trusted text.
 */
export function renderDiscord(content: ChatContent, consoleUrl: string | null): object {
  const color = content.severity === null ? {} : { color: colors[content.severity] };
  const lines = content.lines.map(escapeDiscord).join('\n');
  const first = lines === '' ? [] : [{ description: lines, ...color }];
  const embeds = fitting([...first, ...content.items.map(embedOf)]);
  const text = [`**${content.heading}**`, ...endLines(content, embeds.length - first.length)];
  return {
    content: [...text, ...(consoleUrl === null ? [] : [`<${consoleUrl}>`])].join('\n'),
    embeds,
    allowed_mentions: { parse: [] },
  };
}

interface Embed {
  readonly title?: string;
  readonly url?: string;
  readonly description: string;
}

function embedOf({ rule, platform, author, title, text, why, url }: ChatItem): Embed {
  const lines = [
    [`**${escapeDiscord(rule)}**`, platform, ...(author === null ? [] : [escapeDiscord(author)])].join(' · '),
    ...(title === null ? [] : [`> **${escapeDiscord(title)}**`]),
    ...(text === null ? [] : [`> ${escapeDiscord(text)}`]),
    ...(why === null ? [] : [`Why: ${escapeDiscord(why)}`]),
  ];
  return { ...(url !== null && { title: 'Open', url }), description: lines.join('\n') };
}

/** The first embeds, as many as Discord accepts in a message: at least two, given the sizes of their parts. */
function fitting(embeds: readonly Embed[]): Embed[] {
  let room = charactersMax;
  const kept: Embed[] = [];
  for (const embed of embeds) {
    room -= (embed.title ?? '').length + embed.description.length;
    if (room < 0 || kept.length === embedsMax) break;
    kept.push(embed);
  }
  return kept;
}

/** Discord reads a backslash before punctuation as that character; `https\://` is not a link. */
function escapeDiscord(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}
