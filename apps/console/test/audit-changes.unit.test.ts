import { expect, test } from 'vitest';
import {
  type AuditEntry,
  changesInShort,
  changesOf,
  matchesFilter,
  targetName,
} from '../src/screens/audit/changes.ts';

test('only the fields that differ are told, nested ones by their path', () => {
  const before = { name: 'A', platforms: { x: { value: 'rust' } }, tags: ['a'] };
  const after = { name: 'A', platforms: { x: { value: 'zig' } }, tags: ['a'], state: 'paused' };
  expect(changesOf({ before, after })).toEqual([
    { field: 'platforms.x.value', before: 'rust', after: 'zig' },
    { field: 'state', before: null, after: 'paused' },
  ]);
});

test('of something new everything is told, and of something gone too', () => {
  expect(changesOf({ before: null, after: { name: 'A' } })).toEqual([
    { field: 'name', before: null, after: 'A' },
  ]);
  expect(changesOf({ before: { name: 'A' }, after: null })).toEqual([
    { field: 'name', before: 'A', after: null },
  ]);
});

const entry: AuditEntry = {
  id: 'aud_1',
  created_at: '2026-11-14T00:00:00.000Z',
  actor: 'operator',
  operation: 'CreateRule',
  target_id: 'rule_01kb',
  before: null,
  after: null,
  request_id: null,
};

test('an empty filter takes everything, and each part narrows', () => {
  const all = { actor: '', operation: '', target: '' };
  expect(matchesFilter(entry, all)).toBe(true);
  expect(matchesFilter(entry, { ...all, target: '01k' })).toBe(true);
  expect(matchesFilter(entry, { ...all, actor: 'earshot' })).toBe(false);
  expect(matchesFilter(entry, { ...all, operation: 'DeleteRule' })).toBe(false);
  expect(matchesFilter(entry, { ...all, target: 'key_' })).toBe(false);
});

test('one small change is told as it is, a long one and several by their fields', () => {
  const state = { field: 'state', before: 'active', after: 'paused' };
  expect(changesInShort([state])).toBe('state: active → paused');
  expect(changesInShort([{ field: 'state', before: null, after: 'paused' }])).toBe('state: – → paused');
  expect(changesInShort([state, { ...state, field: 'name' }])).toBe('state, name');
  expect(changesInShort([{ field: 'intent', before: 'a'.repeat(60), after: 'b' }])).toBe('intent');
  expect(changesInShort([])).toBe('nothing');
});

test('the thing is called as it is now, or as it was', () => {
  expect(targetName({ before: { name: 'A' }, after: { name: 'B' } })).toBe('B');
  expect(targetName({ before: { name: 'A' }, after: null })).toBe('A');
  expect(targetName({ before: null, after: { scopes: [] } })).toBeNull();
});
