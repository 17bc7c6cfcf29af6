import { type ChatDigest, chatItem, chatItemsMax, plain } from '../webhooks/formats/chat-content.ts';
import type { DigestContent } from './issue-content.ts';
import { countsOf, coverageOf, periodOf, totalText } from './render-mail.ts';

/** A chat shows the beginning, in what Slack takes for one text; a mail and a standard webhook have all of it. */
const linesMax = 12;
const lineLength = 200;

/** What a chat shows of an issue: counts first, then how much was heard, then the newest matches. */
export function chatDigestOf(content: DigestContent): ChatDigest {
  const names = new Map(content.counts.map(({ rule_id, rule_name }) => [rule_id, rule_name]));
  const parts = [periodOf(content), coverageOf(content), countsOf(content)];
  const lines = [`${content.name}, issue ${content.number}`].concat(
    parts.flatMap((part) => part.lines.map(({ text }) => text)),
  );
  const shown = content.matches.slice(0, chatItemsMax);
  return {
    type: 'digest',
    heading: `Earshot: a digest, ${totalText(content)}`,
    lines: lines.slice(0, linesMax).map((line) => plain(line, lineLength)),
    matches: shown.map(({ author, ...match }) =>
      chatItem(
        { ...match, author: author === null ? null : { name: author, handle: null } },
        names.get(match.rule_id) ?? match.rule_id,
      ),
    ),
    more: content.total - shown.length,
  };
}
