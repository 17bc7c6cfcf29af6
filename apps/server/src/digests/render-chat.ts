import { totalOf } from '../readers/to-match.ts';
import { type ChatDigest, chatItem, chatItemsMax, plain } from '../webhooks/formats/chat-content.ts';
import type { DigestContent, ShownStory } from './message-content.ts';
import { countsOf, coverageOf, periodOf, storyText, totalText } from './render-mail.ts';

/** A chat shows the beginning, within Slack's limit for one text. Mails and standard webhooks have all of it. */
const linesMax = 12;
const lineLength = 200;

/** What a chat shows of a digest message: counts, coverage, then the newest matches. */
export function chatDigestOf(content: DigestContent): ChatDigest {
  const names = new Map(content.counts.map(({ rule_id, rule_name }) => [rule_id, rule_name]));
  const parts = [periodOf(content), coverageOf(content), countsOf(content)];
  const lines = [`${content.name}, message ${content.number}`].concat(
    parts.flatMap((part) => part.lines.map(({ text }) => text)),
  );
  const shown = content.matches.slice(0, chatItemsMax);
  const hidden = content.hidden ? totalOf(content.hidden) : 0;
  return {
    type: 'digest',
    heading: `Earshot digest: ${totalText(content)}`,
    lines: lines.slice(0, linesMax).map((line) => plain(line, lineLength)),
    matches: shown.map(({ author, story, ...match }) =>
      chatItem(
        {
          ...match,
          ...(story && story.matches > 1 && { title: withSize(match.title, story) }),
          author: author === null ? null : { name: author, handle: null },
        },
        names.get(match.rule_id) ?? match.rule_id,
      ),
    ),
    more: content.total - shown.length - hidden,
  };
}

const withSize = (title: string | null, story: ShownStory) =>
  [storyText(story), title].filter(Boolean).join('; ');
