import { type ChatContent, type ChatItem, endLines } from './chat-content.ts';

interface Text {
  readonly type: 'text';
  readonly text: string;
  readonly style?: { readonly bold?: true; readonly italic?: true };
}
interface Link {
  readonly type: 'link';
  readonly url: string;
  readonly text: string;
}
type Part = Text | Link;

/**
 * Block Kit. Untrusted content appears only in `rich_text` elements of the type `text`, which have no markup, so
 * mentions, links and emoji are not interpreted. The `text` beside the blocks, shown in notifications, is markup and
 * has only trusted text.
 */
export function renderSlack(content: ChatContent, consoleUrl: string | null): object {
  const ending = endLines(content, content.items.length);
  return {
    text: content.heading,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: content.heading, emoji: false } },
      ...(content.lines.length > 0
        ? [{ type: 'rich_text', elements: [section([words(content.lines.join('\n'))])] }]
        : []),
      ...content.items.map((item) => ({ type: 'rich_text', elements: elementsOf(item) })),
      ...(ending.length > 0 || consoleUrl !== null
        ? [{ type: 'rich_text', elements: [section(endingParts(ending, consoleUrl))] }]
        : []),
    ],
  };
}

function elementsOf(item: ChatItem): object[] {
  const { rule, platform, author, title, text, why, url } = item;
  const head: Part[] = [bold(rule), words(` · ${platform}${author === null ? '' : ` · ${author}`}`)];
  const quoted: Part[] = [
    ...(title === null ? [] : [bold(title)]),
    ...(text === null ? [] : [words(title === null ? text : `\n${text}`)]),
  ];
  const foot: Part[] = [
    ...(why === null ? [] : [words(`Why: ${why}`)]),
    ...(url === null ? [] : [words(why === null ? '' : ' · '), link(url, 'Open')]),
  ].filter((part) => part.text !== '');
  return [
    section(head),
    ...(quoted.length > 0 ? [{ type: 'rich_text_quote', elements: quoted }] : []),
    ...(foot.length > 0 ? [section(foot)] : []),
  ];
}

function endingParts(lines: readonly string[], consoleUrl: string | null): Part[] {
  const text = lines.join('\n');
  return [
    ...(text === '' ? [] : [words(text)]),
    ...(consoleUrl === null
      ? []
      : [...(text === '' ? [] : [words('\n')]), link(consoleUrl, 'Open the console')]),
  ];
}

const section = (elements: readonly Part[]) => ({ type: 'rich_text_section', elements });
const words = (text: string): Text => ({ type: 'text', text });
const bold = (text: string): Text => ({ type: 'text', text, style: { bold: true } });
const link = (url: string, text: string): Link => ({ type: 'link', url, text });
