import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { llmsText } from './discovery.ts';

test('llms.txt lists every operation with its method and path, and no other path', () => {
  const named = new Set(
    Array.from(
      llmsText({ hasMcp: false }).matchAll(/`(GET|POST) (\/[^`]+)`/g),
      ([, method, path]) => `${method} ${path}`,
    ),
  );
  expect(named).toEqual(new Set(Object.values(operations).map(({ method, path }) => `${method} ${path}`)));
});

test('llms.txt is short, follows the convention, and mentions MCP only if it is served', () => {
  const text = llmsText({ hasMcp: false });
  expect(text.length).toBeLessThan(6_000);
  expect(text).toMatch(/^# Earshot\n\n> /);
  expect(text).not.toContain('/mcp');
  expect(llmsText({ hasMcp: true })).toContain('- [MCP](/mcp)');
});
