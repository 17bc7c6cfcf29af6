import { lengthOf } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { corrected, languages, type Platform } from '../../src/index.ts';
import { createRandom, randomRule as randomFirehoseRule } from '../firehose/random.ts';
import { pick, type Random, randomRule, seeded } from '../x/generate.ts';

/** What people and models write into a rule that would otherwise be valid. */
const mistakes: readonly ((rule: string, random: Random) => string)[] = [
  (rule) => rule.replace(' ', ' AND '),
  (rule) => rule.replace(' ', ' and '),
  (rule) => rule.replace(' ', ' & '),
  (rule) => rule.replace(' ', ' && '),
  (rule) => rule.replace(' ', ', '),
  (rule) => rule.replaceAll(' ', ', '),
  (rule) => rule.replace(' OR ', ' or '),
  (rule) => rule.replace(' OR ', ' | '),
  (rule) => rule.replace(' OR ', ' ODER '),
  (rule) => rule.replace(' -', ' NOT '),
  (rule) => rule.replace(' AND NOT ', ' -'),
  (rule) => rule.replace(' ', ' NEAR '),
  (rule) => rule.replace(/\b(\w+)\b/, '$1^2'),
  (rule) => rule.replaceAll('"', '”'),
  (rule) => rule.replaceAll('(', '（').replaceAll(')', '）'),
  (rule) => rule.replace(/[()]/, ''),
  (rule) => `${rule} lang:en,de`,
  (rule) => `${rule} from:(a OR b)`,
  (rule) => `${rule} title:(acme OR sky)`,
  (rule) => `${rule} AND publish_time:[NOW-7DAYS TO NOW]`,
  (rule) => `${rule} news about acme`,
  (rule) => `what is ${rule}`,
  (rule) => `${rule} acme?`,
  (rule, random) => rule.slice(0, Math.floor(random() * rule.length)),
];

const inputs = lengthOf({ always: 1_500, nightly: 500_000 });

const seed = 20_261_119;

function rulesOnX(): () => string {
  const random = seeded(seed);
  return () => randomRule(random);
}

function rulesOnFirehose(): () => string {
  const random = createRandom(seed);
  return () => randomFirehoseRule(random);
}

test.each([
  ['x', rulesOnX],
  ['firehose', rulesOnFirehose],
] as const)(
  'a correction on %s is valid, final, and answers every suspicious finding',
  { timeout: 600_000 },
  (platform, generate) => {
    const random = seeded(seed);
    const nextRule = generate();
    const failures: string[] = [];
    let corrections = 0;
    for (let round = 0; round < inputs && failures.length < 5; round += 1) {
      let text = nextRule();
      for (let times = 1 + Math.floor(random() * 2); times > 0; times -= 1)
        text = pick(random, mistakes)(text, random);
      const sent = corrected(languages[platform], text);
      if (sent === null) continue;
      corrections += 1;
      const problem = problemOf(platform, text, sent);
      if (problem !== null) failures.push(`${problem}: ${text} → ${sent}`);
    }
    expect(failures).toEqual([]);
    expect(corrections).toBeGreaterThan(inputs / 100);
  },
);

function problemOf(platform: Platform, text: string, sent: string): string | null {
  const language = languages[platform];
  const before = language.validate(text);
  const after = language.validate(sent);
  if (!after.valid) return 'not valid';
  if (corrected(language, sent) !== null) return 'corrected twice';
  const errors = before.diagnostics.filter(({ severity }) => severity === 'error');
  const unanswered = before.diagnostics.filter(
    ({ severity, fixes }) =>
      severity === 'suspicious' && !fixes.some(({ certainty }) => certainty === 'certain'),
  );
  if (errors.length === 0 && unanswered.length > 0) return `drops ${unanswered[0]?.code}`;
  return before.valid ? 'changes a valid rule' : null;
}
