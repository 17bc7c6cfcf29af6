import type { Notice } from '@earshot/sdk';
import { expect, test } from 'vitest';
import { alertFacts, noticeTitle, subjectName, subjectPath } from '../src/screens/notices/notice-words.ts';

const unknown = JSON.parse('{ "type": "moon.full", "data": {} }');

test('describes a type in words, and shows an unknown type as it is', () => {
  expect(noticeTitle({ type: 'rule.expired', data: {} })).toBe('The rule has expired');
  expect(noticeTitle(unknown)).toBe('moon.full');
});

test('a budget that paused a rule early is not called spent', () => {
  const title = (data: Notice['data']) => noticeTitle({ type: 'budget.reached', data });
  expect(title({ spent: 22, limit: 40, on_reached: 'pause' })).toBe('Paused early for a budget');
  expect(title({ spent: 40, limit: 40, on_reached: 'pause' })).toBe('A budget is spent');
  expect(title({ spent: 40, limit: 40, on_reached: 'notify' })).toBe('A budget is spent');
  expect(title({ budget: 'installation', on_reached: 'pause' })).toBe('A budget is reached');
});

test('a notice links to the page of its subject', () => {
  const rule = { kind: 'rule', id: 'rule_1', name: 'A' } as const;
  const source = { kind: 'source', id: 'x:main', name: 'main' } as const;
  expect(subjectPath({ type: 'rule.expired', subject: rule })).toBe('/rules/rule_1');
  expect(subjectPath({ type: 'budget.reached', subject: rule })).toBe('/cost?rule=rule_1');
  expect(subjectPath({ type: 'alert.spike', subject: rule })).toBe('/feed?rule=rule_1');
  expect(subjectPath({ type: 'coverage.gap', subject: source })).toBe('/coverage');
  expect(subjectPath({ type: 'source.action_required', subject: source })).toBe('/sources');
});

test('the subject of a notice names its platform', () => {
  expect(subjectName({ kind: 'platform', id: 'x', name: 'x' })).toBe('X');
  expect(subjectName({ kind: 'source', id: 'firehose:demo', name: 'demo' })).toBe('Firehose demo');
  expect(subjectName({ kind: 'rule', id: 'rule_1', name: 'x' })).toBe('x');
});

test('an id cannot change the path of the link', () => {
  const subject = { kind: 'webhook', id: '../keys?x', name: 'A' } as const;
  expect(subjectPath({ type: 'webhook.failing', subject })).toBe('/webhooks/..%2Fkeys%3Fx');
});

test('an alert names the common words and sites of its items, whatever its data is', () => {
  expect(alertFacts({ top_words: ['login', 5], top_domains: ['example.com', 'example.org'] })).toEqual([
    { name: 'Common words', values: ['login'] },
    { name: 'Common sites', values: ['example.com', 'example.org'] },
  ]);
  expect(alertFacts({ top_words: [], top_domains: 'none' })).toEqual([]);
});
