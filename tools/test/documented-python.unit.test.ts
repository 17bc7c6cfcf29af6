import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { missingPython, python } from '../../packages/testkit/src/debian-python.ts';
import { skipUnless } from '../../packages/testkit/src/vitest-skips.ts';
import { readPages } from '../documentation.ts';

/** Prints the name and the mistake of each block that is not Python. */
const compileAll = `
import json, sys
for name, code in json.load(sys.stdin):
    try:
        compile(code, name, "exec")
    except SyntaxError as error:
        print(f"{name}: {error}")
`;

const compile = (blocks: readonly (readonly [string, string])[]) =>
  spawnSync(python, ['-c', compileAll], { input: JSON.stringify(blocks), encoding: 'utf8' }).stdout;

// `e2e/packages.nightly.test.ts` also checks their types.
test(
  'the Python examples of the documentation compile',
  skipUnless('python', missingPython([], '')),
  async () => {
    const pages = await readPages(join(import.meta.dirname, '../..'));
    const blocks = pages.flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/^( *)```python.*\n([^]*?)^ *```$/gm),
        ([, indentation = '', code = '']) =>
          [path, code.replaceAll(new RegExp(`^${indentation}`, 'gm'), '')] as const,
      ),
    );
    expect(blocks.length).toBeGreaterThan(8);
    expect(compile(blocks)).toBe('');
    expect(compile([['wrong', 'for match in']])).toContain('wrong: invalid syntax');
  },
);
