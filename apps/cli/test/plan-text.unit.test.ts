import { expect, test } from 'vitest';
import { planRules } from '../src/rules-file/plan.ts';
import { planText } from '../src/rules-file/plan-text.ts';
import { ruleOf } from './rule-of.ts';

const common = {
  intent: 'to know',
  overrides: { x: 'rocket "lift off"' },
  options: {},
  acceptSuspicious: false,
  expiresAt: null,
  budget: null,
  relevance: null,
  alerts: null,
};
const examples = {
  must_match: [{ platform: 'x' as const, payload: { text: 'rocket' } }],
  must_not_match: [],
};

const relevance = { judge: true, criteria: [], accept_unproven: false, usd_per_day: null };

test('a plan shows creations, changed fields and deletions, without control characters', () => {
  const wanted = [
    { key: 'a', name: 'A\u001b[2J\nB', ...common, examples, relevance },
    { key: 'b', name: 'b', ...common, examples },
  ];
  const account = [ruleOf('b'), ruleOf('c', { name: 'Old' }), ruleOf('d', { managed_by: null })];
  const text = planText(planRules({ set: 'launches', rules: wanted }, account), (style, line) =>
    style === 'red' ? `<${line}>` : line,
  );
  expect(text.split('\n')).toEqual([
    '+ a',
    '    name: A [2J B',
    '    intent: to know',
    '    overrides.x: rocket "lift off"',
    '    examples: 1 must match, 0 must not',
    `    relevance: ${JSON.stringify(relevance)}`,
    '~ b  (rule_b, version 3)',
    '    overrides.x',
    '<      - rocket>',
    '      + rocket "lift off"',
    '    examples',
    '<      - (none)>',
    `      + ${JSON.stringify(examples)}`,
    '<- c  (rule_c, Old) with its matches>',
    'Plan for the set "launches": 1 to create, 1 to change, 1 to delete, 0 unchanged.',
    '1 other rule of the account: not affected.',
  ]);
});
