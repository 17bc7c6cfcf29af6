import type { Match } from '@earshot/sdk';
import { hiddenReasons, highlightedText } from './highlight.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { renderFields } from './table.ts';
import { shortTime } from './times.ts';

/** One match for people, with its whole text. */
export function matchText(match: Match, { paint }: Pick<Screen, 'paint'>): string {
  const { payload, platform, why } = match;
  const author = payload.author?.handle ? `@${payload.author.handle}` : payload.author?.name;
  const fields = renderFields(
    [
      ['id', match.id],
      ['rule', `${match.rule_id}, version ${match.rule_version}`],
      ['platform', platform],
      ['item', match.platform_post_id],
      [
        'stored',
        `${shortTime(match.created_at)}${match.via === 'search' ? ', found when a gap was repaired' : ''}`,
      ],
      ['published', payload.published_at && shortTime(payload.published_at)],
      ['author', author],
      ['url', payload.url],
      ['title', payload.title],
      ['relevance', relevanceText(match)],
      ['muted by', match.muted_by],
      ['why', [why.verdict, hiddenReasons(match)].filter(Boolean).join(': ')],
    ],
    { paint },
  );
  const text =
    payload.title === null ? highlightedText(match) : [{ text: printable(payload.text ?? ''), isHit: false }];
  const shown = text.map((one) => (one.isHit ? paint(['bold', 'yellow'], one.text) : one.text));
  return `${fields}\n\n${shown.join('')}`;
}

function relevanceText({ relevance }: Match): string | undefined {
  if (!relevance) return undefined;
  const { verdict, by, reason } = relevance;
  const text = `${verdict.replace('_', ' ')} by ${by}`;
  return reason === null ? text : `${text}: ${printable(reason)}`;
}
