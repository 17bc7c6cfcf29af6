import type { Answers } from '@earshot/sdk';
import { ruleIds } from './rules.ts';
import { ago } from './time.ts';

type Feed = Answers['ListFeeds']['feeds'][number];

const feed = (id: string, differs: Partial<Feed>): Feed => ({
  id,
  name: 'Releases for the team',
  rule_ids: [ruleIds.release],
  platform: null,
  relevance: 'not_irrelevant',
  query: null,
  created_at: ago(6, 'day'),
  expires_at: null,
  last_read_at: ago(12, 'minute'),
  ...differs,
});

export const feeds: readonly Feed[] = [
  feed('feed_01kb2n0a4c7q5t8w3y6z1v0n2p', {}),
  feed('feed_01kb2n0a4c7q5t8w3y6z1v0n3p', {
    name: 'Everything',
    rule_ids: null,
    platform: 'x',
    relevance: 'all',
    query: 'security advisory',
    last_read_at: null,
  }),
];

export const createdFeed: Answers['CreateFeed'] = {
  ...feed('feed_01kb2n0a4c7q5t8w3y6z1v0n4p', { last_read_at: null }),
  feed_id: 'feed_01kb2n0a4c7q5t8w3y6z1v0n4p',
  atom_url: `https://earshot.example.com/feeds/esf_${'0'.repeat(32)}.atom`,
  json_url: `https://earshot.example.com/feeds/esf_${'0'.repeat(32)}.json`,
};
