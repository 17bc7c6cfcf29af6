import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { missingPython, python } from '../../testkit/src/debian-python.ts';
import { skipUnless } from '../../testkit/src/vitest-skips.ts';
import { startAnsweringServer } from './answering-server.ts';
import { callScenarios } from './scenarios/calls.ts';
import { drive } from './scenarios/drive.ts';
import { followerScenarios } from './scenarios/followers.ts';
import { readerScenarios } from './scenarios/readers.ts';
import { type Scenario, summarize } from './scenarios/scenario.ts';
import { webhookScenarios } from './scenarios/webhooks.ts';

/** What every SDK must do: each program does the steps against a server that gives the answers. */
const scenarios = [...callScenarios(), ...followerScenarios(), ...readerScenarios(), ...webhookScenarios()];

const folder = join(import.meta.dirname, '../../../sdks/python');
const missing = missingPython(['httpx'], 'python3-httpx');

interface Run extends Pick<Scenario, 'name' | 'steps'> {
  readonly url: string;
}

interface Outcome {
  readonly name: string;
  readonly observed: unknown;
}

const driveTypeScript = (runs: readonly Run[]): Promise<Outcome[]> =>
  Promise.all(runs.map(async ({ name, url, steps }) => ({ name, observed: await drive(url, steps) })));

/** All scenarios in one process, at the same time. */
async function drivePython(client: 'sync' | 'async', runs: readonly Run[]): Promise<Outcome[]> {
  const child = spawn(python, ['-B', 'test/driver.py', client], {
    cwd: folder,
    env: { PYTHONPATH: 'src' },
    // Some mistakes make a follower wait forever. The other scenarios are reported nevertheless.
    timeout: 50_000,
    killSignal: 'SIGKILL',
  });
  child.stdin.end(runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  const [lines, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe.for([
  ['TypeScript', null, driveTypeScript],
  ['Python', missing, (runs) => drivePython('sync', runs)],
  ['asynchronous Python', missing, (runs) => drivePython('async', runs)],
] as const satisfies [string, string | null, (runs: readonly Run[]) => Promise<Outcome[]>][])(
  'the %s SDK',
  ([, lacks, driveAll]) => {
    const skip = skipUnless('python', lacks);
    const observations = new Map<string, unknown>();
    const servers = new Map<string, Awaited<ReturnType<typeof startAnsweringServer>>>();
    beforeAll(async () => {
      if (skip.skip) return;
      await using stack = new AsyncDisposableStack();
      for (const { name, answers } of scenarios)
        servers.set(name, stack.use(await startAnsweringServer(...answers())));
      const runs = scenarios.map(({ name, steps }) => ({ name, steps, url: servers.get(name)?.url ?? '' }));
      for (const { name, observed } of await driveAll(runs)) observations.set(name, observed);
    });

    test.for(scenarios)('$name', skip, ({ name, observed, received, waitMs = 0 }) => {
      const requests = servers.get(name)?.requests ?? [];
      const [first = 0, second = 0] = requests.map(({ receivedAt }) => receivedAt);
      expect(observations.get(name)).toEqual(observed);
      if (received) expect(summarize(requests)).toEqual(received);
      if (waitMs > 0) expect(second - first).toBeGreaterThanOrEqual(waitMs);
    });
  },
);
