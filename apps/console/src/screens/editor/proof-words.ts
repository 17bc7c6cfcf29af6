import type { Answers, Rule } from '@earshot/sdk';
import { formatCount, formatUsd } from '../../parts/format.ts';

type Proof = Answers['GetRelevance'];
type Share = NonNullable<Proof['precision']>;

export interface Fact {
  readonly name: string;
  readonly words: string;
}

/** What is known of the relevance of a rule, in sentences. */
export function proofFacts(proof: Proof, relevance: Rule['relevance']): Fact[] {
  const { labels, precision, recall, judge, judge_usd, verdicts } = proof;
  const facts = [
    {
      name: 'Labels',
      words: `${formatCount(labels.relevant)} relevant, ${formatCount(labels.not_relevant)} not relevant.`,
    },
    {
      name: 'Precision',
      words: precision
        ? `${percent(precision.estimate)} of what is shown is relevant (${interval(precision)}).`
        : 'Not known without labels. Open matches in the feed, and press + or -.',
    },
  ];
  if (judge === null) return [...facts, { name: 'Judge', words: 'No judge checks the matches.' }];
  return [
    ...facts,
    {
      name: 'Recall',
      words: recall
        ? `${percent(recall.estimate)} of the relevant matches are not rejected (${interval(recall)}).`
        : 'Not known until you label rejected matches of a sample.',
    },
    {
      name: 'Judge',
      words: `${judge}: ${formatCount(verdicts.relevant)} relevant, ${formatCount(verdicts.not_relevant)} not relevant, ${formatCount(verdicts.unsure)} unsure, ${formatCount(verdicts.unjudged)} without a verdict.`,
    },
    { name: 'Hiding', words: hidingWords(proof, relevance) },
    { name: 'Cost', words: `At most ${formatUsd(judge_usd)} in the last 30 days.` },
  ];
}

function hidingWords({ is_proven, labels_missing }: Proof, relevance: Rule['relevance']): string {
  if (is_proven) return 'Readers that filter by relevance leave out what the judge rejects.';
  const missing = `${formatCount(labels_missing)} more relevant ${labels_missing === 1 ? 'label' : 'labels'}`;
  return relevance?.accept_unproven
    ? `The judge may hide matches without proof. ${missing} would prove how many it wrongly rejects.`
    : `${missing} until the judge may hide matches. Until then, it only marks them.`;
}

function interval({ low, high }: Share): string {
  return `${percent(low)} to ${percent(high)}`;
}

/** Rounds, but not to certainty. */
function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (share < 1 && rounded === 100) return '99%';
  return share > 0 && rounded === 0 ? '1%' : `${rounded}%`;
}
