import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
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

/** Debian's: another one in the PATH does not have Debian's packages. */
const python = '/usr/bin/python3';
const folder = join(import.meta.dirname, '../../../sdks/python');
const missing = await promisify(execFile)(python, ['-c', 'import httpx']).then(
  () => null,
  () => `${python} with httpx (apt-get install python3-httpx)`,
);

interface Run extends Pick<Scenario, 'steps'> {
  readonly url: string;
}

/** All scenarios in one process, at the same time. */
async function drivePython(client: 'sync' | 'async', runs: readonly Run[]): Promise<unknown[][]> {
  const child = spawn(python, ['-B', 'test/driver.py', client], {
    cwd: folder,
    env: { PYTHONPATH: 'src' },
    // A follower without a server never ends.
    timeout: 50_000,
    killSignal: 'SIGKILL',
  });
  child.stdin.end(runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  const [lines, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe.for([
  ['TypeScript', null, (runs) => Promise.all(runs.map(({ url, steps }) => drive(url, steps)))],
  ['Python', missing, (runs) => drivePython('sync', runs)],
  ['asynchronous Python', missing, (runs) => drivePython('async', runs)],
] as const satisfies [string, string | null, (runs: readonly Run[]) => Promise<unknown[][]>][])(
  'the %s SDK',
  ([, lacks, driveAll]) => {
    const skip = skipUnless('python', lacks);
    const outcomes = new Map<string, { observed: unknown; received: object[]; waitedMs: number }>();
    beforeAll(async () => {
      if (skip.skip) return;
      await using servers = new AsyncDisposableStack();
      const started = await Promise.all(
        scenarios.map(async ({ answers }) => servers.use(await startAnsweringServer(...answers()))),
      );
      const all = await driveAll(scenarios.map(({ steps }, index) => ({ steps, url: started[index]!.url })));
      for (const [index, { requests }] of started.entries()) {
        const [first = 0, second = 0] = requests.map(({ receivedAt }) => receivedAt);
        const received = summarize(requests);
        outcomes.set(scenarios[index]!.name, { observed: all[index], received, waitedMs: second - first });
      }
    });

    test.for(scenarios)('$name', skip, ({ name, observed, received, waitMs = 0 }) => {
      const outcome = outcomes.get(name);
      expect(outcome?.observed).toEqual(observed);
      if (received) expect(outcome?.received).toEqual(received);
      if (waitMs > 0) expect(outcome?.waitedMs).toBeGreaterThanOrEqual(waitMs);
    });
  },
);
