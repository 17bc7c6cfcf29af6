import { MissingProgram } from '@earshot/engines';
import { expect, test } from 'vitest';
import { together } from '../src/demo/together.ts';

test('a start names all missing programs at once, and Docker as another way', async () => {
  const start = together(
    Promise.reject(new MissingProgram('PostgreSQL is missing.')),
    Promise.reject(new Error('the build failed')),
    Promise.reject(new MissingProgram('nats-server is missing.')),
  );
  await expect(start).rejects.toThrow(
    /^PostgreSQL is missing\.\n\nnats-server is missing\.\n\nOr use Docker.*compose\.demo\.yaml up$/,
  );
});

test('a start that fails for another reason waits for its other parts, and reports the reason', async () => {
  let isStarted = false;
  const slow = new Promise((resolve) => setTimeout(resolve, 20)).then(() => {
    isStarted = true;
  });
  await expect(together(slow, Promise.reject(new Error('the port is in use')))).rejects.toThrow('in use');
  expect(isStarted).toBe(true);
});
