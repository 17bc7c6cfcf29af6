import type { Answers } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { hasJudgeOptions, readAlerts, readRelevance } from '../src/commands/rule-values.ts';
import { earshotCommands } from '../src/commands.ts';
import { relevanceText } from '../src/output/relevance-text.ts';
import { createdText } from '../src/output/rule-text.ts';
import { createProgram } from '../src/program.ts';
import { ruleOf } from './rule-of.ts';

const none = {
  judge: undefined,
  criteria: undefined,
  'accept-unproven': undefined,
  'judge-budget': undefined,
} as const;

test('alerts change only when the option is given, and off is null', () => {
  expect(readAlerts({ alerts: undefined })).toEqual({});
  expect(readAlerts({ alerts: 'low' })).toEqual({ alerts: 'low' });
  expect(readAlerts({ alerts: 'off' })).toEqual({ alerts: null });
});

test('options of the judge change only what is given, and switch the judge of a new rule on', () => {
  expect(hasJudgeOptions(none)).toBe(false);
  expect(hasJudgeOptions({ ...none, 'judge-budget': null })).toBe(true);
  expect(readRelevance({ ...none, criteria: ' It is news; It names a version;' }, null)).toEqual({
    judge: true,
    criteria: ['It is news', 'It names a version'],
  });
  const current = { judge: false, criteria: ['a'], accept_unproven: true, usd_per_day: 1 };
  expect(readRelevance({ ...none, 'judge-budget': null }, current)).toEqual({
    ...current,
    usd_per_day: null,
  });
  expect(readRelevance({ ...none, judge: 'on', 'accept-unproven': 'off' }, current)).toEqual({
    ...current,
    judge: true,
    accept_unproven: false,
  });
});

const answer: Answers['GetRelevance'] = {
  rule_id: 'rule_1',
  judge: 'llama3.2:3b',
  labels: { relevant: 20, not_relevant: 5 },
  verdicts: { relevant: 812, not_relevant: 930, unsure: 57, unjudged: 3 },
  is_proven: false,
  labels_missing: 40,
  precision: { estimate: 0.9, low: 0.812, high: 0.95 },
  recall: null,
  audit: { labelled: 30, relevant: 1, match_ids: ['mat_1', 'mat_2'] },
  judge_usd: 0.021,
};
const screen = { paint: (_: unknown, text: string) => text };

test('relevance shows shares with their intervals, the missing labels and the sample', () => {
  expect(relevanceText(answer, screen).split('\n')).toEqual([
    'judge      llama3.2:3b',
    'labels     20 relevant, 5 not relevant',
    'verdicts   812 relevant, 930 not relevant, 57 unsure, 3 unjudged',
    'precision  90% of the matches that are not rejected are relevant; with 95% confidence, 81% to 95%',
    'recall     unknown: too few labels',
    'audit      1 of 30 labelled matches of the random samples were rejected wrongly',
    'cost       $0.0210 in 30 days, at most',
    '',
    '40 more matches must be labelled relevant before readers leave out what the judge rejects, except with --accept-unproven on.',
    '',
    'A random sample of what the judge rejected this week. Read each one with `earshot matches get`, then label it:',
    '  mat_1',
    '  mat_2',
    '',
    'earshot matches label not_relevant mat_1,mat_2',
    'earshot matches label relevant <those that it rejected wrongly>',
  ]);
});

test('relevance without a judge, or with enough labels, names no missing labels', () => {
  const empty = { ...answer.audit, match_ids: [] };
  expect(relevanceText({ ...answer, judge: null, audit: empty }, screen)).not.toContain('more');
  expect(
    relevanceText({ ...answer, is_proven: true, labels_missing: 0, audit: empty }, screen),
  ).not.toContain('more');
});

test('a created rule with a judge shows hints about its intent, and one without a judge shows none', () => {
  const createdWith = (more: object) => {
    const rule = ruleOf('a', { intent: 'rockets', ...more });
    const created = { ...rule, rule_id: rule.id, platforms: {} };
    return createdText(created, { x: 'rocket', firehose: undefined, bluesky: undefined }, {
      ...screen,
      columns: 80,
    } as never);
  };
  const relevance = { judge: true, criteria: [], accept_unproven: false, usd_per_day: null };
  expect(createdWith({ relevance })).toContain('\n--intent: hint: The intent is very short.');
  expect(createdWith({ relevance: { ...relevance, judge: false } })).not.toContain('hint');
  expect(createdWith({ relevance: null })).not.toContain('hint');
});

test('rules create and update send the relevance, in place of what the rule has, and validate the intent', async () => {
  const current = { judge: true, criteria: ['a'], accept_unproven: false, usd_per_day: 1 };
  const sent: object[] = [];
  const send = async (request: object) => {
    sent.push(request);
    return { platforms: {} };
  };
  const getRule = async () => ruleOf('a', { relevance: current });
  const earshot = { createRule: send, updateRule: send, getRule, validateRule: send };
  const context = {
    connect: async () => earshot,
    isJson: true,
    screen: { waitFor: (_: string, answer: unknown) => answer, print: () => undefined },
  };
  const program = () =>
    createProgram(earshotCommands, async (command, typed) => {
      await command.run(typed, context as never);
    });
  await program().parseAsync(['rules', 'create', '--name', 'a', '--x', 'a', '--judge', 'on'], {
    from: 'user',
  });
  await program().parseAsync(['rules', 'update', 'rule_a', '--judge', 'off'], { from: 'user' });
  await program().parseAsync(['rules', 'update', 'rule_a', '--name', 'b'], { from: 'user' });
  const validation = ['rules', 'validate', '--x', 'a', '--intent', 'b'];
  await program().parseAsync(validation, { from: 'user' });
  expect(sent).toEqual([
    { name: 'a', intent: 'a', platforms: ['x'], overrides: { x: 'a' }, relevance: { judge: true } },
    { rule_id: 'rule_a', relevance: { ...current, judge: false } },
    { rule_id: 'rule_a', name: 'b' },
    { platforms: ['x'], overrides: { x: 'a' }, intent: 'b' },
  ]);
});
