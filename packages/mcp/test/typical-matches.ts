import { createHash } from 'node:crypto';
import type { Match } from '@earshot/sdk';
import { aMatch } from './a-match.ts';

const sentences = [
  'The rocket launch from the new coastal site was delayed again after engineers found a leak in one of the fuel lines.',
  'Heads up: the 7.2 firmware bricks some of the older heat pumps, ours is dead since this morning 😡',
  'Does anyone know when the recall is going to reach Europe?',
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
  'Ticket sales start on Thursday at 10 am, limited to four per person.',
  'The study followed 1,200 adults over five years and found no difference between the groups.',
];
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
    const isPost = item % 10 < 7;
    const text = sentencesFrom(item, isPost ? 1 + ((item * 7) % 3) : 5 + ((item * 3) % 11));
    const url = `https://blog.example-tribune.com/2026/11/${text
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.slice(0, 6)
      .join('-')}`;
    const match = aMatch(item, { text, ...(!isPost && { url, other: text.slice(0, 80) }) });
    for (const twin of item % 10 === 4 ? [0, 1] : [0])
      matches.push({ ...match, id: idOf(2 * item + twin), rule_id: rules[(item + twin) % 3] ?? '' });
  }
  return matches.slice(0, 100);
}

function sentencesFrom(first: number, count: number): string {
  return Array.from({ length: count }, (_, n) => sentences[(first * 3 + n * 7) % sentences.length]).join(' ');
}

/** As long, and as random, as real ones. */
function idOf(index: number): string {
  const digest = createHash('sha256').update(String(index)).digest('hex');
  return `mat_01kb2mj3s6${digest.slice(0, 16)}`;
}
