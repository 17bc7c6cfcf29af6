import { createRandom, type Random, randomRule } from '../firehose/random.ts';

const pieces = [
  ...Array.from('()"-+!:~*?\\[]{}^/&|$<>“”–,._ '),
  ' OR ',
  ' AND ',
  ' and ',
  ' or ',
  'NOT ',
  ' - ',
  '""',
  '&&',
  '||',
  'title:',
  'category:',
  'url:',
  'url:*\\/press\\/*',
  'domain:News.Example',
  'domain:*.news.example',
  'page_category:/News ',
  'page_category:"News"',
  'page_type:(Article OR "/Listicle")',
  'language:EN ',
  'publish_time:[2026-05-01 TO 2026-05-31]',
  'dr:60 ',
  'dr:>=60 ',
  'dr:[90 TO 10]',
  'recent:7d',
  'recent:2w',
  'https://x.example/a?b=c',
  'UI/UX',
  '10-K',
  'heat pump',
  'the',
  '$no-junk',
  '*:*',
  'solar~1.5',
  'solar^4',
  '/\\d+$/',
  '\\u12',
  '東京',
  'é',
  '👍🏽',
  '\ud800',
  '\u0000',
  '\t',
  '\n',
  '\u3000',
  '\u00a0',
];

/** Random pieces, mutated rules, and hostile shapes, in turn. */
export function firehoseInputs(seed: number): (round: number) => string {
  const random = createRandom(seed);
  return (round) => {
    if (round % 1000 === 0) return hostile(random, round / 1000);
    if (round % 10 < 3) return soup(random, 1 + random.below(12));
    if (round % 10 === 3) return noise(random);
    return mutated(random);
  };
}

function soup(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(pieces)).join('');
}

function noise(random: Random): string {
  return Array.from({ length: random.below(60) }, () => String.fromCharCode(random.below(0x300))).join('');
}

function mutated(random: Random): string {
  let rule = randomRule(random);
  for (let edits = random.below(3); edits > 0; edits -= 1) {
    const at = random.below(rule.length + 1);
    const removed = random.below(4);
    rule = rule.slice(0, at) + (random.chance(0.6) ? random.pick(pieces) : '') + rule.slice(at + removed);
  }
  return rule;
}

/** Up to 4 KB of one shape: what takes a careless parser to its knees. */
function hostile(random: Random, round: number): string {
  const shapes = [
    '(',
    ')',
    '((a)',
    '"',
    '\\"',
    '/',
    '\\/',
    '[',
    '["',
    '[a ',
    '~',
    'a:',
    'NOT ',
    '-',
    '- ',
    ' ',
    'page_category:x ',
    'language:x ',
    'xyz:a ',
    'a AND ',
    'a OR b AND ',
    '10-K ',
    'recent:7d ',
    '*',
    '“',
    'url:/(a*)*/ ',
    '$a ',
    'https://a/b ',
  ];
  const shape = shapes[round % shapes.length] ?? '(';
  const text = shape.repeat(Math.ceil(4096 / shape.length));
  return random.chance(0.5) ? text : text.slice(0, random.below(4096)) + soup(random, 8);
}
