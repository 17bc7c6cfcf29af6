import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EarshotError } from '@earshot/sdk';
import { describe, expect, test } from 'vitest';
import { type Context, isGroup } from '../src/command.ts';
import { matches } from '../src/commands/matches.ts';
import { plan } from '../src/commands/plan.ts';
import { test as testFile } from '../src/commands/test.ts';
import { errorAsJson } from '../src/explain-error.ts';
import { jsonLine } from '../src/output/printable.ts';

/** Characters that terminals interpret, reorder or hide. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const words = 'a\u001b[2J\u007f\u0085\u009b2J\u202e\u2066\u200b\u200d\ufeff\u2028\u{e0041}\u3164z';

test('jsonLine escapes control characters and keeps the value', () => {
  const hostile = {
    text: words,
    'k\u202e': ['é🚀日本'],
  };
  const line = jsonLine(hostile);
  expect(line).toContain(
    String.raw`"a\u001b[2J\u007f\u0085\u009b2J\u202e\u2066\u200b\u200d\ufeff\u2028\udb40\udc41\u3164z"`,
  );
  expect(line).toContain('é🚀日本');
  expect(line).not.toMatch(unseen);
  expect(JSON.parse(line)).toEqual(hostile);
});

describe('--json escapes control characters of', () => {
  const hostile = { matches: [{ payload: { text: words } }] };
  /** Runs a command without a terminal, with a server that returns untrusted content. */
  const run = async (command: (typeof matches.commands)[number] | undefined, file: string) => {
    if (command === undefined || isGroup(command)) throw new Error('there is no such command');
    const printed: string[] = [];
    const screen = {
      print: (text: string) => printed.push(text),
      note: (text: string) => printed.push(text),
      waitFor: (_words: string, work: Promise<unknown>) => work,
    };
    const connect = async () => ({
      listMatches: async () => hostile,
      listRules: async () => ({ rules: [] }),
    });
    const context = { env: {}, isJson: true, screen, connect } as unknown as Context;
    await command.run({ options: {}, args: { file } }, context);
    return printed.join('\n');
  };

  test('an answer with untrusted content', async () => {
    const printed = await run(matches.commands[0], '');
    expect(JSON.parse(printed)).toEqual(hostile);
    expect(printed).not.toMatch(unseen);
  });

  test.each([
    { what: 'findings of a rules file', command: testFile, field: '"\\u202e\\u009b": a' },
    { what: 'findings that refuse a plan', command: plan, field: '"\\u202e\\u009b": a' },
    { what: 'a plan', command: plan, field: 'x: \'"rocket" "\u00ad"\'' },
  ])('$what', async ({ command, field }) => {
    const folder = await mkdtemp(join(tmpdir(), 'earshot-json-'));
    const file = join(folder, 'rules.yaml');
    await writeFile(file, `set: a\nrules:\n  r:\n    intent: "i\\u202e"\n    overrides:\n      ${field}\n`);
    try {
      const printed = await run(command, file);
      expect(printed).toMatch(/\\u202e|\\u009b/);
      expect(printed).not.toMatch(unseen);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('an error', () => {
    const error = new EarshotError(words, { code: 'invalid_argument' });
    expect(errorAsJson(error)).not.toMatch(unseen);
    expect(JSON.parse(errorAsJson(error))).toMatchObject({ message: words });
  });
});
