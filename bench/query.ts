import { type Language, languages } from '@earshot/query';
import { parse as parseLiqe } from 'liqe';
import { parse as parseLucene } from 'lucene';
import { realisticRules } from './rules.ts';

/**
 * Measures one rule of about 100 characters, beside two public Lucene parsers in the same run. They only parse, and do not
 * know X's language: rules that they refuse are counted, and excluded from their time. The contenders alternate, so that
 * other load affects all of them equally. The best window is the cost of the code, the median the cost on this machine.
 */
const rulesPerPlatform = 400;
const windows = 15;
const windowMs = 60;

interface Contender {
  readonly name: string;
  readonly run: (rule: string) => unknown;
}

function contenders(language: Language): Contender[] {
  return [
    { name: 'earshot parse + validate + canonicalise', run: (rule) => language.validate(rule) },
    { name: 'earshot parse', run: language.parse },
    { name: 'lucene parse', run: parseLucene },
    { name: 'liqe parse', run: parseLiqe },
  ];
}

function isAccepted(rule: string, run: (rule: string) => unknown): boolean {
  try {
    run(rule);
    return true;
  } catch {
    return false;
  }
}

function microsecondsPerRule(rules: readonly string[], run: (rule: string) => unknown): number {
  const started = performance.now();
  let rounds = 0;
  do {
    for (const rule of rules) run(rule);
    rounds += 1;
  } while (performance.now() - started < windowMs);
  return ((performance.now() - started) * 1000) / (rounds * Math.max(1, rules.length));
}

function measure(language: Language, rules: readonly string[]): void {
  const entries = contenders(language).map((contender) => ({
    ...contender,
    accepted: rules.filter((rule) => isAccepted(rule, contender.run)),
    times: [] as number[],
  }));
  for (let window = 0; window < windows + 3; window += 1) {
    for (const { accepted, run, times } of entries) {
      const time = microsecondsPerRule(accepted, run);
      // The first windows warm the compiler up.
      if (window >= 3) times.push(time);
    }
  }
  for (const { name, accepted, times } of entries) {
    const sorted = times.toSorted((a, b) => a - b);
    const [best = 0, median = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)]];
    const refused = rules.length - accepted.length;
    process.stdout.write(
      `  ${name.padEnd(40)} best ${best.toFixed(1).padStart(6)} µs, median ${median.toFixed(1).padStart(6)} µs per rule${refused > 0 ? `, ${refused} refused` : ''}\n`,
    );
  }
}

for (const platform of ['x', 'firehose'] as const) {
  const language = languages[platform];
  const rules = realisticRules(platform, rulesPerPlatform);
  const invalid = rules.find((rule) => language.validate(rule).canonical === null);
  if (invalid !== undefined) throw new Error(`a rule of the benchmark is not valid: ${invalid}`);
  const characters = rules.reduce((sum, rule) => sum + rule.length, 0);
  process.stdout.write(
    `${language.platform}: ${rules.length} rules, ${(characters / rules.length).toFixed(0)} characters on average\n`,
  );
  measure(language, rules);
}
