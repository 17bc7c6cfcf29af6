import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { done, type Rows, saying } from './scene.ts';

const file = `set: built
rules:
  meteors:
    intent: to know about meteors
    overrides: { x: meteor }
    examples:
      must_match: [{ platform: x, payload: { text: A meteor! } }]
`;

/** More about them is in rules-as-code.e2e.test.ts. */
export const rulesAsCodeRows: Rows = {
  async test(earshot, { cli }) {
    await writeFile(join(cli.dir, 'rules.yaml'), file);
    expect(await earshot()).toEqual(done(saying('✓ meteors  1 of 1 hold')));
    await writeFile(join(cli.dir, 'failing.yaml'), file.replace('A meteor!', 'A comet!'));
    expect(await earshot('failing.yaml')).toMatchObject({
      code: 1,
      stdout: saying('✗ meteors  0 of 1 hold'),
    });
  },

  async plan(earshot) {
    expect(await earshot.json()).toMatchObject({ create: [{ key: 'meteors' }], update: [], delete: [] });
    expect(await earshot('--exit-code')).toMatchObject({ code: 2, stdout: saying('+ meteors') });
  },

  async apply(earshot, { cli }) {
    const path = join(cli.dir, 'rules.yaml');
    const asked = [['Do this? [y/N]', 'n\n']] as const;
    expect(await cli.onTerminal(['apply', path], asked)).toMatchObject({
      code: 1,
      stdout: saying('Nothing was done.'),
    });
    expect(await cli.onTerminal(['apply', path], [['Do this? [y/N]', 'y\n']])).toMatchObject({
      code: 0,
      stdout: saying('✓ created meteors'),
    });
    expect(await earshot.json('--yes')).toMatchObject({ plan: { unchanged: 1 }, steps: [] });
    await writeFile(path, 'set: built\nrules: {}\n');
    expect(await earshot('--yes')).toEqual(done(saying('✓ deleted meteors')));
  },
};
