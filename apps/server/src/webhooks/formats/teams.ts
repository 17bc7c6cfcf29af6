import { visible } from '@earshot/mcp/visible';
import { type ChatContent, type ChatItem, endLines } from './chat-content.ts';

/** Below Teams' limit of 28 KB. */
const bytesMax = 27_000;
const colors = { info: 'default', warning: 'warning', critical: 'attention' } as const;

/**
 * An Adaptive Card, in the envelope of a Workflows webhook. Untrusted content appears only in `RichTextBlock` runs,
 * which have no Markdown; the beginning of a tag such as `<at>` is written out.
 */
export function renderTeams(content: ChatContent, consoleUrl: string | null): object {
  for (let shown = content.items.length; ; shown -= 1) {
    const message = messageOf(content, shown, consoleUrl);
    if (shown <= 1 || Buffer.byteLength(JSON.stringify(message)) <= bytesMax) return message;
  }
}

function messageOf(content: ChatContent, shown: number, consoleUrl: string | null): object {
  const color = content.severity === null ? {} : { color: colors[content.severity] };
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      richText([{ ...run(content.heading), size: 'medium', weight: 'bolder', ...color }]),
      ...content.lines.map(lineOf),
      ...content.items.slice(0, shown).map(containerOf),
      ...endLines(content, shown).map(lineOf),
    ],
    ...(consoleUrl !== null && { actions: [openUrl(consoleUrl, 'Open the console')] }),
  };
  const attachment = {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: card,
  };
  return { type: 'message', attachments: [attachment] };
}

function containerOf({ rule, platform, author, title, text, why, url }: ChatItem): object {
  const head = [
    { ...run(rule), weight: 'bolder' },
    run(` · ${platform}${author === null ? '' : ` · ${author}`}`),
  ];
  const quoted = [
    ...(title === null ? [] : [richText([{ ...run(title), weight: 'bolder' }])]),
    ...(text === null ? [] : [richText([run(text)])]),
  ];
  return {
    type: 'Container',
    separator: true,
    items: [
      richText(head),
      ...(quoted.length > 0 ? [{ type: 'Container', style: 'emphasis', items: quoted }] : []),
      ...(why === null ? [] : [richText([{ ...run(`Why: ${why}`), isSubtle: true }])]),
      ...(url === null ? [] : [{ type: 'ActionSet', actions: [openUrl(url, 'Open')] }]),
    ],
  };
}

const lineOf = (line: string) => richText([run(line)]);
const richText = (inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines });
const run = (text: string) => ({ type: 'TextRun', text: visible(text) });
const openUrl = (url: string, title: string) => ({ type: 'Action.OpenUrl', url, title });
