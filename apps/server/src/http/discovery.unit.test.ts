import { operations } from '@earshot/contract';
import { expect, test } from 'vitest';
import { llmsText } from './discovery.ts';

test('llms.txt names every operation by its method and path, and no path besides that is none', () => {
  const named = new Set(
    Array.from(
      llmsText({ hasMcp: false }).matchAll(/`(GET|POST) (\/[^`]+)`/g),
      ([, method, path]) => `${method} ${path}`,
    ),
  );
  expect(named).toEqual(new Set(Object.values(operations).map(({ method, path }) => `${method} ${path}`)));
});

test('llms.txt is short, begins as the convention asks, and names MCP only where it is served', () => {
  const text = llmsText({ hasMcp: false });
  expect(text.length).toBeLessThan(6_000);
  expect(text).toMatch(/^# Earshot\n\n> /);
  expect(text).not.toContain('/mcp');
  expect(llmsText({ hasMcp: true })).toContain('- [MCP](/mcp)');
});
