import { expect, test } from 'vitest';
import { selfOf } from '../src/self.ts';

test.each([
  [
    'from the sources by ./dev',
    { DEV_SCRIPT: '../earshot/dev' },
    '/clone/apps/cli/src/main.ts',
    '../earshot/dev earshot',
  ],
  ['from the sources by pnpm', {}, '/clone/apps/cli/src/main.ts', 'pnpm earshot'],
  ['as the built file', {}, '/project/node_modules/earshot/earshot.mjs', 'earshot'],
])('started %s, the commands that it prints begin like the one that was typed', (_, env, file, self) => {
  expect(selfOf(env, file)).toBe(self);
});
