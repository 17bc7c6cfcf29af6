import { type ChatContent, type ChatItem, endLines } from './chat-content.ts';

/** Of all embeds together. */
const charactersMax = 6_000;
const embedsMax = 10;
const colors = { info: 0x5865f2, warning: 0xfee75c, critical: 0xed4245 } as const;

/**
 * Strangers' words are in descriptions of embeds alone, with all punctuation escaped: an embed mentions nobody, and no link,
 * mention or markup is left to be read. `content`, in which Discord also looks for invitations, has only our words.
 */
export function renderDiscord(content: ChatContent, consoleUrl: string | null): object {
  const color = content.severity === null ? {} : { color: colors[content.severity] };
  const lines = content.lines.map(escapeDiscord).join('\n');
  const first = lines === '' ? [] : [{ description: lines, ...color }];
  const embeds = fitting([...first, ...content.items.map(embedOf)]);
  const said = [`**${content.heading}**`, ...endLines(content, embeds.length - first.length)];
  return {
    content: [...said, ...(consoleUrl === null ? [] : [`<${consoleUrl}>`])].join('\n'),
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

/** As many of the first as Discord takes together: always two, because of the sizes of their parts. */
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

/** Discord takes a backslash before any punctuation for that character; `https\://` is no link. */
function escapeDiscord(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}
