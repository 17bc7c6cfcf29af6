import type { Answers } from '@earshot/sdk';
import type { Screen } from './screen.ts';
import { renderFields } from './table.ts';

type Relevance = Answers['GetRelevance'];

/** Shares with their intervals, what is missing for a proof, and the matches to label next. */
export function relevanceText(answer: Relevance, screen: Pick<Screen, 'paint'>): string {
  const { judge, labels, verdicts, precision, recall, audit, judge_usd: usd } = answer;
  const fields = renderFields(
    [
      ['judge', judge ?? 'none'],
      ['labels', `${labels.relevant} relevant, ${labels.not_relevant} not relevant`],
      [
        'verdicts',
        `${verdicts.relevant} relevant, ${verdicts.not_relevant} not relevant, ${verdicts.unsure} unsure, ${verdicts.unjudged} unjudged`,
      ],
      ['precision', shareText(precision, 'of the matches that are not rejected are relevant')],
      ['recall', shareText(recall, 'of the relevant matches are not rejected')],
      [
        'audit',
        `${audit.relevant} of ${audit.labelled} labelled matches of the random samples were rejected wrongly`,
      ],
      ['cost', `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)} in 30 days, at most`],
    ],
    screen,
  );
  return [fields, ...proofLines(answer), ...sampleLines(answer)].join('\n\n');
}

function shareText(share: Relevance['precision'], what: string): string {
  if (share === null) return 'unknown: too few labels';
  const { estimate, low, high } = share;
  return `${percent(estimate)} ${what}; with 95% confidence, ${percent(low)} to ${percent(high)}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function proofLines({ judge, is_proven, labels_missing: missing }: Relevance): string[] {
  if (judge === null || is_proven) return [];
  return [
    `${missing} more ${missing === 1 ? 'match' : 'matches'} must be labelled relevant before readers leave out what the judge rejects, except with --accept-unproven on.`,
  ];
}

function sampleLines({ audit: { match_ids: ids } }: Relevance): string[] {
  if (ids.length === 0) return [];
  return [
    [
      `A random sample of what the judge rejected this week. Read each one with \`earshot matches get\`, then label it:`,
      ...ids.map((id) => `  ${id}`),
      '',
      `earshot matches label not_relevant ${ids.join(',')}`,
      'earshot matches label relevant <those that it rejected wrongly>',
    ].join('\n'),
  ];
}
