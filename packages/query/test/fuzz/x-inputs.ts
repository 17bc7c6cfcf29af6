import { pick, type Random, randomClause, randomRule, seeded } from '../x/generate.ts';

const pieces = [
  ...Array.from('()"-#@$:~*\\[]\'“”–|&!+,.%_ '),
  ' OR ',
  ' AND ',
  ' or ',
  'NOT ',
  ' -',
  '""',
  'is:',
  'has:media ',
  'lang:',
  'lang:en ',
  'sample:10 ',
  'sample:',
  'from:',
  'from:@a,b ',
  'followers_count:9..1 ',
  'point_radius:[1 2 3km]',
  'embedding:"x"',
  'https://x.com/a',
  'frm:x',
  'glacier',
  'cola-light',
  '氷河',
  'é',
  'e\u0301',
  '👍🏽',
  '🔥',
  '\u200b',
  '\ud800',
  '\u0000',
  '\t',
  '\n',
  '\u3000',
] as const;

/** Random pieces, mutated valid rules, and hostile shapes, in turn. */
export function xInputs(seed: number): (round: number) => string {
  const random = seeded(seed);
  return (round) => {
    if (round % 1000 === 0) return hostile(random, Math.floor(round / 1000));
    if (round % 10 < 3) return soup(random);
    if (round % 10 === 3) return noise(random);
    return mutated(random);
  };
}

function soup(random: Random): string {
  return Array.from({ length: 1 + Math.floor(random() * 14) }, () => pick(random, pieces)).join('');
}

function noise(random: Random): string {
  const length = Math.floor(random() * 40);
  return Array.from({ length }, () =>
    String.fromCharCode(Math.floor(random() * (random() < 0.7 ? 128 : 65_536))),
  ).join('');
}

function mutated(random: Random): string {
  let text = random() < 0.5 ? randomRule(random) : `${randomClause(random)} ${randomClause(random)}`;
  for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) {
    const at = Math.floor(random() * (text.length + 1));
    const roll = random();
    if (roll < 0.35) text = text.slice(0, at) + pick(random, pieces) + text.slice(at);
    else if (roll < 0.7) text = text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 3));
    else if (roll < 0.85) text = text.slice(0, at);
    else text = text.slice(at) + text.slice(0, at);
  }
  return text;
}

/** About 4 KB of one thing. */
function hostile(random: Random, turn: number): string {
  const repeated = [
    '(',
    ')',
    '"',
    '-',
    '-(',
    '(-',
    "'",
    "'a ",
    'a OR ',
    'OR ',
    'x:[',
    '\\"',
    '“',
    '&amp;',
    '(a OR b) ',
    '-(a OR b)',
    'a -a ',
    'lang:en lang:de ',
  ];
  if (turn % 5 === 0) return `${'('.repeat(2000)}ice${')'.repeat(2000)}`;
  const piece = turn % 2 === 0 ? pick(random, repeated) : pick(random, pieces) + pick(random, pieces);
  return piece.repeat(Math.floor(4096 / piece.length));
}
