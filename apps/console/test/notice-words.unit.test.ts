import { expect, test } from 'vitest';
import { noticeTitle, subjectPath } from '../src/screens/notices/notice-words.ts';

test('a type is told in words, and one that is not known as it is', () => {
  expect(noticeTitle('rule.expired')).toBe('The rule has expired');
  expect(noticeTitle('moon.full')).toBe('moon.full');
});

test('a notice leads to where more is to be seen', () => {
  const rule = { kind: 'rule', id: 'rule_1', name: 'A' } as const;
  const source = { kind: 'source', id: 'x:main', name: 'main' } as const;
  expect(subjectPath({ type: 'rule.expired', subject: rule })).toBe('/rules/rule_1');
  expect(subjectPath({ type: 'budget.reached', subject: rule })).toBe('/cost?rule=rule_1');
  expect(subjectPath({ type: 'coverage.gap', subject: source })).toBe('/coverage');
  expect(subjectPath({ type: 'source.action_required', subject: source })).toBe('/sources');
});

test('an id cannot lead elsewhere', () => {
  const subject = { kind: 'webhook', id: '../keys?x', name: 'A' } as const;
  expect(subjectPath({ type: 'webhook.failing', subject })).toBe('/webhooks/..%2Fkeys%3Fx');
});
