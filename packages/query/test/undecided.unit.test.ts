import { describe, expect, test } from 'vitest';
import type { LeafNode, Node } from '../src/ast.ts';
import { evaluateRule, explainRule } from '../src/explain.ts';
import { firehoseLanguage } from '../src/firehose/language.ts';
import type { Explanation, Language, LeafVerdict, State } from '../src/language.ts';
import { xLanguage } from '../src/x/language.ts';
import { pick, type Random, seeded } from './x/generate.ts';

function explain(language: Language, rule: string, payload: unknown): Explanation {
  const { root } = language.parse(rule);
  if (root === null) throw new Error(`no tree: ${rule}`);
  return language.explain(root, payload);
}

/** A rule, the item that the platform delivered for it, what is highlighted, and the fields of what stays undecided. */
type Row = readonly [rule: string, item: object, highlights: readonly string[], undecided: readonly string[]];

function post(text: string, data: object = {}, includes: object = {}): object {
  return {
    data: { id: '1', text, author_id: '11', ...data },
    includes: { users: [{ id: '11', username: 'mira_k', name: 'Mira' }], ...includes },
  };
}

const news = post('Acme opens a second plant in Leeds', { lang: 'en' });
const link = { entities: { urls: [{ url: 'https://t.co/a1', expanded_url: 'https://status.example/42' }] } };
const tagged = { geo: { place_id: 'p1' } };
const gif = { attachments: { media_keys: ['m'] } };
const retweet = post(
  'RT @OpenAI: GPT-6 is rolling out to everyone today, starting with…',
  {
    referenced_tweets: [{ type: 'retweeted', id: '2' }],
    entities: { mentions: [{ username: 'OpenAI', id: '22' }] },
  },
  {
    tweets: [
      {
        id: '2',
        author_id: '22',
        text: 'GPT-6 is rolling out to everyone today, starting with paying users',
        entities: { hashtags: [] },
      },
    ],
  },
);
const cutRetweet = post('RT @acme: Heat pump sales double…', {
  referenced_tweets: [{ type: 'retweeted', id: '2' }],
});

const posts: readonly Row[] = [
  ['acme sample:10', news, ['Acme'], ['sample']],
  ['acme source:"X for iPhone"', news, ['Acme'], ['source']],
  ['acme -bio:crypto', news, ['Acme'], ['bio']],
  ['acme -context:47.*', news, ['Acme'], ['context']],
  ['"second plant" entity:"Acme Ltd"', news, ['second plant'], ['entity']],
  ['acme lang:en min_likes:10', news, ['Acme', 'en'], ['min_likes']],
  ['acme followers_count:1000', news, ['Acme'], ['followers_count']],
  ['plant from_affiliate_of:acme', news, ['plant'], ['from_affiliate_of']],
  ['(plant OR factory) conversation_id:77', news, ['plant'], ['conversation_id']],
  ['leeds bio_location:yorkshire', news, ['Leeds'], ['bio_location']],
  [
    'cat has:images',
    post('my cat, again', gif, { media: [{ media_key: 'm', type: 'animated_gif' }] }),
    ['cat'],
    ['has:images'],
  ],
  ['特斯拉 lang:zh-CN', post('特斯拉在上海发布新车', { lang: 'zh' }), ['特斯拉'], ['lang']],
  ['台積電 lang:zh-TW', post('台積電宣布擴產', { lang: 'zh' }), ['台積電'], ['lang']],
  ['outage url_title:status', post('Another outage https://t.co/a1', link), ['outage'], ['url_title']],
  [
    'outage -url_description:giveaway',
    post('Another outage https://t.co/a1', link),
    ['outage'],
    ['url_description'],
  ],
  ['strike place_country:us', post('On strike since six', tagged), ['strike'], ['place_country']],
  [
    'strike point_radius:[-1.55 53.8 10mi]',
    post('On strike since six', tagged),
    ['strike'],
    ['point_radius'],
  ],
  ['"heat pump" retweets_of:acme', cutRetweet, ['Heat pump'], ['retweets_of']],
  ['gpt @openai', retweet, ['GPT', 'OpenAI'], ['mention']],
  ['gpt -@openai', retweet, ['GPT'], ['mention']],
];

function page(document: object = {}): object {
  return {
    matched_at: '2026-09-01T12:00:00Z',
    document: {
      url: 'https://energy.news.example.co.uk/2026/heat-pumps',
      title: 'Heat pumps outsell boilers',
      language: 'en',
      publish_time: '2026-09-01T11:30:00',
      page_category: ['/News/Business_News'],
      page_types: ['/Article/News_Update'],
      diff: { chunks: [{ typ: 'ins', text: 'Sales of heat pumps rose after the subsidy in Norway.' }] },
      ...document,
    },
  };
}

const inserted = (text: string): object => ({ diff: { chunks: [{ typ: 'ins', text }] } });
const lastMonth = page({ publish_time: '2026-08-02T08:00:00' });

const pages: readonly Row[] = [
  ['"heat pumps" AND NOT "sponsored"', page(), ['heat pumps'], ['added']],
  ['title:"heat pumps" AND added:"boiler ban"', page(), ['Heat pumps'], ['added']],
  ['(subsidy OR grant) AND language:"en" AND NOT casino', page(), ['subsidy', 'en'], ['added', 'added']],
  ['subsidy AND dr:[50 TO *]', page(), ['subsidy'], ['dr']],
  ['subsidy AND NOT dr:[0 TO 20]', page(), ['subsidy'], ['dr']],
  ['subsidy AND recent:1h', page(), ['subsidy'], ['recent']],
  ['subsidy AND recent:1mo', lastMonth, ['subsidy'], ['recent']],
  ['subsidy AND added_anchor:"press release"', page(), ['subsidy'], ['added_anchor']],
  ['subsidy AND NOT removed_anchor:"press release"', page(), ['subsidy'], ['removed_anchor']],
  ['subsidy AND removed:"tax credit"', page(), ['subsidy'], ['removed']],
  ['subsidy AND NOT removed:"tax credit"', page(), ['subsidy'], ['removed']],
  ['subsidy AND page_category:"/News"', page(), ['subsidy', '/News/Business_News'], ['page_category']],
  ['subsidy AND NOT page_category:"/News"', page(), ['subsidy'], ['page_category']],
  ['norway AND page_type:"/Article"', page(), ['Norway', '/Article/News_Update'], ['page_type']],
  ['norway AND domain:"news.example.co.uk"', page(), ['Norway'], ['domain']],
  ['title:boilers AND NOT (casino OR betting)', page(), ['boilers'], ['added', 'added']],
  ['title:boilers AND (layoffs OR "job cuts")', page(), ['boilers'], ['added', 'added']],
  [
    'url:*heat-pumps AND "press release"',
    page(),
    ['https://energy.news.example.co.uk/2026/heat-pumps'],
    ['added'],
  ],
  ['title:pumps AND shop', page(inserted('visit shop.example now')), ['pumps', 'shop'], ['added']],
  ['("heat pumps" AND dr:[50 TO *]) OR "gas boiler"', page(), ['heat pumps'], ['dr', 'added']],
];

describe('an undecided clause leaves the others highlighted', () => {
  const rows = [
    ...posts.map((row) => ['x', ...row] as const),
    ...pages.map((row) => ['firehose', ...row] as const),
  ];

  test.each(rows)('%s: %s', (platform, rule, ...[item, highlights, undecided]) => {
    const explanation = explain(platform === 'x' ? xLanguage : firehoseLanguage, rule, item);
    expect(explanation.state).toBe('unknown');
    expect(explanation.witness.map(({ value }) => value)).toEqual(highlights);
    expect(explanation.undecided.map(({ field }) => field)).toEqual(undecided);
    for (const { why } of explanation.undecided) expect(why).not.toBe('');
  });
});

describe('a mention that only a retweet itself has', () => {
  test('is shown as evidence for the clause, which stays undecided', () => {
    expect(explain(xLanguage, 'has:mentions gpt', retweet)).toMatchObject({
      state: 'unknown',
      witness: [{ path: 'data.entities.mentions[0]' }, { value: 'GPT' }],
      undecided: [{ field: 'has:mentions', why: 'X does not say whether the mention of a retweet counts' }],
    });
  });

  test('is found in its text if entities are missing, also without the original', () => {
    expect(explain(xLanguage, '@acme', cutRetweet)).toMatchObject({
      state: 'unknown',
      witness: [{ path: 'data.text', value: '@acme' }],
    });
  });

  test('is decided if the original has it too, or if no post mentions the account', () => {
    const mentioning = structuredClone(retweet) as { includes: { tweets: [{ entities: object }] } };
    mentioning.includes.tweets[0].entities = { mentions: [{ username: 'OpenAI' }] };
    expect(explain(xLanguage, '@openai', mentioning)).toMatchObject({ state: 'match', confidence: 'exact' });
    expect(explain(xLanguage, '@acme', retweet)).toMatchObject({ state: 'no_match', confidence: 'exact' });
  });
});

/** A tree of leaves that are all different, and a verdict for each. */
function randomTree(random: Random, verdicts: Map<LeafNode, LeafVerdict>, depth: number): Node {
  const roll = depth === 0 ? 0 : random();
  if (roll < 0.3) return randomLeaf(random, verdicts);
  if (roll < 0.45) return { kind: 'not', child: randomTree(random, verdicts, depth - 1), span: [0, 0] };
  const children = Array.from({ length: 2 + Math.floor(random() * 3) }, () =>
    randomTree(random, verdicts, depth - 1),
  );
  return { kind: random() < 0.5 ? 'and' : 'or', children, span: [0, 0] };
}

function randomLeaf(random: Random, verdicts: Map<LeafNode, LeafVerdict>): LeafNode {
  const at = verdicts.size;
  const leaf: LeafNode = {
    kind: 'leaf',
    field: 'f',
    test: { type: 'term', value: String(at) },
    span: [at, at + 1],
    valueSpan: [at, at + 1],
  };
  const state = pick(random, ['match', 'no_match', 'unknown'] as const);
  const evidence = [{ rule: leaf.span, field: 'f', path: String(at), range: null, value: String(at) }];
  verdicts.set(leaf, { state, confidence: 'exact', evidence: state === 'unknown' ? [] : evidence });
  return leaf;
}

/** The state that each leaf has to be in for the tree to match, by the negations above it. */
function wantedStates(node: Node, wanted: State, found = new Map<LeafNode, State>()): Map<LeafNode, State> {
  if (node.kind === 'leaf') found.set(node, wanted);
  else if (node.kind === 'not') wantedStates(node.child, wanted === 'match' ? 'no_match' : 'match', found);
  else if (node.kind !== 'never') for (const child of node.children) wantedStates(child, wanted, found);
  return found;
}

test('the highlighted text makes the match if undecided clauses count as satisfied', () => {
  const random = seeded(23);
  let undecided = 0;
  let partly = 0;
  for (let round = 0; round < 5_000; round += 1) {
    const verdicts = new Map<LeafNode, LeafVerdict>();
    const root = randomTree(random, verdicts, 4);
    const verdictOf = (leaf: LeafNode): LeafVerdict =>
      verdicts.get(leaf) ?? { state: 'unknown', confidence: 'approximate', evidence: [] };
    const explanation = explainRule(root, () => verdictOf);
    if (explanation.state !== 'unknown') continue;
    undecided += 1;
    if (explanation.witness.length > 0) partly += 1;
    const shown = new Set(explanation.witness.map(({ value }) => value));
    const wanted = wantedStates(root, 'match');
    const { state } = evaluateRule(root, () => (leaf) => {
      const own = verdictOf(leaf);
      if (own.state === 'unknown') return { ...own, state: wanted.get(leaf) ?? 'unknown' };
      return shown.has(String(leaf.span[0])) ? own : { ...own, state: 'unknown' };
    });
    if (state !== 'match')
      throw new Error(`${JSON.stringify(root)}\n${JSON.stringify([...verdicts.values()])}`);
  }
  expect(undecided).toBeGreaterThan(1_000);
  expect(partly).toBeGreaterThan(300);
});
