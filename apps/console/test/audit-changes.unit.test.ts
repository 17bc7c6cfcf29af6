import { expect, test } from 'vitest';
import {
  type AuditEntry,
  changesOf,
  matchesFilter,
  summariseChanges,
  targetName,
} from '../src/screens/audit/changes.ts';

test('lists only the fields that differ, nested ones by their path', () => {
  const before = { name: 'A', platforms: { x: { value: 'rust' } }, tags: ['a'] };
  const after = { name: 'A', platforms: { x: { value: 'zig' } }, tags: ['a'], state: 'paused' };
  expect(changesOf({ before, after })).toEqual([
    { field: 'platforms.x.value', before: 'rust', after: 'zig' },
    { field: 'state', before: null, after: 'paused' },
  ]);
});

test('lists all fields of a created or deleted target', () => {
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

test('an empty filter matches every entry, and each part restricts it', () => {
  const all = { actor: '', operation: '', target: '' };
  expect(matchesFilter(entry, all)).toBe(true);
  expect(matchesFilter(entry, { ...all, target: '01k' })).toBe(true);
  expect(matchesFilter(entry, { ...all, actor: 'earshot' })).toBe(false);
  expect(matchesFilter(entry, { ...all, operation: 'DeleteRule' })).toBe(false);
  expect(matchesFilter(entry, { ...all, target: 'key_' })).toBe(false);
});

test('summarises one short change in full, and long or several changes by their fields', () => {
  const state = { field: 'state', before: 'active', after: 'paused' };
  expect(summariseChanges([state])).toBe('state: active → paused');
  expect(summariseChanges([{ field: 'state', before: null, after: 'paused' }])).toBe('state: – → paused');
  expect(summariseChanges([state, { ...state, field: 'name' }])).toBe('state, name');
  expect(summariseChanges([{ field: 'intent', before: 'a'.repeat(60), after: 'b' }])).toBe('intent');
  expect(summariseChanges([])).toBe('no changes');
});

test('names the target by its current name, or by its last name if it was deleted', () => {
  expect(targetName({ before: { name: 'A' }, after: { name: 'B' } })).toBe('B');
  expect(targetName({ before: { name: 'A' }, after: null })).toBe('A');
  expect(targetName({ before: null, after: { scopes: [] } })).toBeNull();
});
