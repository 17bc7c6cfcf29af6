import { expect, test } from 'vitest';
import { noticeTitle, subjectPath } from '../src/screens/notices/notice-words.ts';

test('describes a type in words, and shows an unknown type as it is', () => {
  expect(noticeTitle('rule.expired')).toBe('The rule has expired');
  expect(noticeTitle('moon.full')).toBe('moon.full');
});

test('a notice links to the page of its subject', () => {
  const rule = { kind: 'rule', id: 'rule_1', name: 'A' } as const;
  const source = { kind: 'source', id: 'x:main', name: 'main' } as const;
  expect(subjectPath({ type: 'rule.expired', subject: rule })).toBe('/rules/rule_1');
  expect(subjectPath({ type: 'budget.reached', subject: rule })).toBe('/cost?rule=rule_1');
  expect(subjectPath({ type: 'coverage.gap', subject: source })).toBe('/coverage');
  expect(subjectPath({ type: 'source.action_required', subject: source })).toBe('/sources');
});

test('an id cannot change the path of the link', () => {
  const subject = { kind: 'webhook', id: '../keys?x', name: 'A' } as const;
  expect(subjectPath({ type: 'webhook.failing', subject })).toBe('/webhooks/..%2Fkeys%3Fx');
});
