import type { MatchPayload, MuteField } from '@earshot/contract';
import { expect, test } from 'vitest';
import { muteOf, normalizeMuted } from './which-mute.ts';

const item: MatchPayload = {
  url: 'https://blog.Example.com/rust',
  title: 'Rust 2027',
  text: 'How to get rust off, step by step. 東京の新製品です',
  author: { id: '42', name: 'Ferris', handle: 'FerrisTheCrab' },
  published_at: null,
  language: null,
  raw: {},
};

function isMuted(field: MuteField, value: string, rule_id = 'rule_1'): boolean {
  const normal = normalizeMuted(field, value);
  if (normal === null) throw new Error('it cannot be muted');
  return (
    muteOf([{ id: 'mut_1', ruleId: 'rule_1', field, value: normal }], { rule_id, payload: item }) !== null
  );
}

test.each<[MuteField, string, boolean]>([
  ['author', 'ferristhecrab', true],
  ['author', '@FerrisTheCrab', true],
  ['author', '42', true],
  ['author', 'ferris', false],
  ['domain', 'example.com', true],
  ['domain', 'https://www.example.com/about', true],
  ['domain', 'BLOG.example.com', true],
  ['domain', 'ample.com', false],
  ['domain', 'other.example.com', false],
  ['phrase', 'step by step', true],
  ['phrase', '  Rust   2027 ', true],
  ['phrase', 'rust, off', true],
  ['phrase', 'tep by', false],
  ['phrase', 'rust step', false],
  ['phrase', '新製品', true],
  ['phrase', '製新', false],
])('%s %j hides the item: %s', (field, value, hides) => {
  expect(isMuted(field, value)).toBe(hides);
  expect(isMuted(field, value, 'rule_2')).toBe(false);
});

test.each<[MuteField, string]>([
  ['author', '@'],
  ['domain', 'not a domain'],
  ['domain', 'https://'],
  ['phrase', '…!'],
])('%s %j cannot be muted', (field, value) => expect(normalizeMuted(field, value)).toBeNull());
