import type { Answers } from '@earshot/sdk';
import { ruleIds } from './rules.ts';
import { ago } from './time.ts';

export const relevance: Answers['GetRelevance'] = {
  rule_id: ruleIds.release,
  judge: 'llama3.2:3b',
  labels: { relevant: 42, not_relevant: 31 },
  verdicts: { relevant: 812, not_relevant: 930, unsure: 57, unjudged: 3 },
  is_proven: false,
  labels_missing: 18,
  precision: { estimate: 0.9, low: 0.81, high: 0.95 },
  recall: { estimate: 0.96, low: 0.86, high: 0.998 },
  audit: {
    labelled: 30,
    relevant: 1,
    match_ids: ['mat_0000000002rs', 'mat_0000000002rt', 'mat_0000000002ru'],
  },
  judge_usd: 0.21,
};

const mute = {
  rule_id: ruleIds.release,
  author: null,
  domain: null,
  phrase: null,
  created_at: ago(2, 'day'),
  created_by: null,
};

const author = { ...mute, id: 'mut_01kb2n0a4c7q5t8w3y6z1v0n2p', author: 'ferris' };

export const mutes: Answers['ListMutes']['mutes'] = [
  author,
  { ...mute, id: 'mut_01kb2n0a4c7q5t8w3y6z1v0n3q', domain: 'blog.example.org', rule_id: null },
  { ...mute, id: 'mut_01kb2n0a4c7q5t8w3y6z1v0n4r', phrase: 'bring crabs' },
];

export const muted: Answers['MuteMatches'] = {
  ...author,
  mute_id: author.id,
  query: { x: '-from:ferris', firehose: 'NOT author:ferris' },
};
