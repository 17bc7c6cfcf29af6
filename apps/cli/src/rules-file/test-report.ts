import { printableLines } from '../output/printable.ts';
import type { CheckedExample, CheckedFile } from './rules-file.ts';

/** Like a test runner: one line per rule, followed by the examples that do not hold. */
export function testReport(path: string, { rules, examples }: CheckedFile): string {
  const byKey = Map.groupBy(examples, ({ key }) => key);
  const lines = rules.flatMap(({ key }) => ruleLines(key, byKey.get(key) ?? []));
  return [printableLines(path), ...lines, '', summary(examples)].join('\n');
}

export function failedExamples({ examples }: CheckedFile): CheckedExample[] {
  return examples.filter(({ outcome }) => outcome === 'fails' || outcome === 'misplaced');
}

function ruleLines(key: string, examples: readonly CheckedExample[]): string[] {
  if (examples.length === 0) return [`  - ${key}  no examples`];
  const notHolding = examples.filter(({ outcome }) => outcome !== 'holds');
  const fails = notHolding.some(({ outcome }) => outcome !== 'undecided');
  const hold = examples.length - notHolding.length;
  return [
    `  ${fails ? '✗' : '✓'} ${key}  ${hold} of ${examples.length} hold`,
    ...notHolding.flatMap(({ finding }) =>
      (finding?.rendered ?? '').split('\n').map((line) => `      ${line}`),
    ),
  ];
}

function summary(examples: readonly CheckedExample[]): string {
  const count = (...outcomes: readonly CheckedExample['outcome'][]) =>
    examples.filter(({ outcome }) => outcomes.includes(outcome)).length;
  return `${examples.length} examples: ${count('holds')} hold, ${count('fails', 'misplaced')} fail, ${count('undecided')} undecided`;
}
