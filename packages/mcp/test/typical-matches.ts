import type { Match } from '@earshot/sdk';

const sentences = [
  'The rocket launch from the new coastal site was delayed again after engineers found a leak in one of the fuel lines.',
  'Heads up: the 7.2 firmware bricks some of the older heat pumps, ours is dead since this morning 😡',
  'Does anybody know when the recall is going to reach Europe?',
  'Prices for hotel rooms have doubled since last week.',
  'We are hiring two backend engineers in Lisbon, remote is fine.',
  'Honestly the best keynote this year, and the demo even worked!',
  'Regulators opened an inquiry on Tuesday and asked the company for documents by the end of the month.',
  'The spokesperson said that the next attempt could come as early as Friday morning, weather permitting.',
  'Version 2.0 drops support for the old plugin interface; there is a migration guide.',
  'Anyone else seeing timeouts in eu-west-1? The status page is all green of course.',
  'The central bank left its rate unchanged at 3.25 percent, as most analysts had expected.',
  'Our review of the new e-bike: light, quiet, and far too expensive for what it does.',
  'Shares fell by 4 percent in early trading before they recovered.',
  'Thread: what I learned from running the same migration on forty databases 🧵',
  'Local officials asked drivers to avoid the highway until the road reopens.',
  'The bug is fixed in the nightly build, thanks to everyone who sent logs.',
  'Three people were taken to hospital after a fire in a warehouse near the harbour.',
  'I switched from the old app two months ago and have not looked back.',
  'Tickets go on sale on Thursday at 10 am, limited to four per person.',
  'The study followed 1,200 adults over five years and found no difference between the groups.',
];
const handles = [
  'marta_k',
  'devops_dan',
  'newsroom24',
  'jlindqvist',
  'thehearthside',
  'ana_paula_r',
  'kt1987',
];
const hosts = [
  'www.example-tribune.com',
  'blog.acme.example',
  'news.harbour.example',
  'status.cloud.example',
];
const tags = ['', '', ' #heatpump', ' https://t.co/Ab3dE9xY1z', '', ' #SpaceLaunch #Florida'];
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

const rules = [
  'rule_01kb2m8yx4e5r6t7v8w9x0y1z2',
  'rule_01kb2p3h6n8q1s5v7x9z2b4d6f',
  'rule_01kb3c7e9g2j4m6p8r1t3w5y7a',
];

/**
 * A hundred matches as an account has them, the same ones each time: seven of ten are posts of one to three sentences, the
 * others are pages of five to fifteen, and every tenth item matched two rules.
 */
export function typicalMatches(): Match[] {
  const matches: Match[] = [];
  for (let item = 0; matches.length < 100; item += 1) {
    const match = item % 10 < 7 ? aPost(item) : aPage(item);
    matches.push(match);
    if (item % 10 === 4 && matches.length < 100)
      matches.push({ ...match, id: idOf(item, 1), rule_id: ruleAt(item + 1) });
  }
  return matches;
}

function aPost(item: number): Match {
  const handle = handles[item % handles.length] ?? '';
  const count = 1 + ((item * 7) % 3);
  const text = `${sentencesFrom(item * 3, count).join(item % 4 === 0 ? '\n' : ' ')}${tags[item % tags.length]}`;
  const postId = String(1_989_472_511_223_344_556n + BigInt(item) * 8_191_234_567n);
  const url = `https://x.com/${handle}/status/${postId}`;
  const author = { id: '2244994945', name: 'Some One', handle };
  return aMatch(item, { platform: 'x', platform_post_id: postId }, { url, title: null, text, author });
}

function aPage(item: number): Match {
  const [title = '', ...rest] = sentencesFrom(item * 5, 5 + ((item * 3) % 11));
  const slug = title
    .toLowerCase()
    .match(/[a-z]+/g)
    ?.slice(0, 6)
    .join('-');
  const url = `https://${hosts[item % hosts.length]}/2026/11/${slug}`;
  const payload = { url, title: title.slice(0, 80), text: rest.join(' '), author: null };
  return aMatch(item, { platform: 'firehose', platform_post_id: url }, payload);
}

function aMatch(
  item: number,
  of: Pick<Match, 'platform' | 'platform_post_id'>,
  payload: Pick<Match['payload'], 'url' | 'title' | 'text' | 'author'>,
): Match {
  const at = Date.parse('2026-11-14T22:46:00.412Z') - item * 97_531;
  const word = payload.text?.slice(0, 6) ?? '';
  const evidence = { field: 'keyword', path: 'data.text', text: word };
  return {
    id: idOf(item, 0),
    rule_id: ruleAt(item),
    rule_version: 1,
    created_at: new Date(at).toISOString(),
    ...of,
    via: 'stream',
    payload: {
      ...payload,
      published_at: new Date(at - 2_000).toISOString(),
      language: 'en',
      raw: {},
    },
    why: {
      verdict: 'match',
      confidence: 'exact',
      evidence: [{ ...evidence, rule_span: { start: 0, end: 6 }, text_span: { start: 0, end: 6 } }],
      undecided: [],
    },
  };
}

function sentencesFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => sentences[(first + n * 7) % sentences.length] ?? '');
}

function ruleAt(item: number): string {
  return rules[item % rules.length] ?? '';
}

/** As long, and as random, as real ones. */
function idOf(item: number, twin: number): string {
  let id = 'mat_01kb2mj3s6';
  for (let n = 0, seed = 48_271 * (2 * item + twin + 7); n < 16; n += 1) {
    seed = (seed * 48_271) % 2_147_483_647;
    id += alphabet[seed % 32];
  }
  return id;
}
