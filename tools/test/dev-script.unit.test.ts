import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A user's project beside the clone. */
let project: string;
/** The path of ./dev as called from that project. */
let script: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'earshot-project-'));
  script = relative(project, resolve(import.meta.dirname, '../../dev'));
});
afterAll(() => rm(project, { recursive: true, force: true }));

const dev = (...words: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
  new Promise((done) => {
    // No server listens on this port.
    const env = { ...process.env, EARSHOT_URL: 'http://127.0.0.1:1', EARSHOT_API_KEY: 'esk_1' };
    execFile(script, words, { cwd: project, env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

const rules = `set: comets
rules:
  comets:
    name: Comets
    intent: See them
    overrides: { x: comet }
`;

test('./dev earshot finds the rules file in the directory of its caller', async () => {
  expect(await dev('earshot', 'test')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The rules file rules.yaml cannot be read'),
  });
  await writeFile(join(project, 'rules.yaml'), rules);
  expect(await dev('earshot', 'test')).toMatchObject({ code: 0, stderr: '' });
});

test('./dev earshot prints only what the command prints', async () => {
  expect(await dev('earshot', 'syntax', '--nothing')).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^Unknown option '--nothing'\.\nearshot syntax --help shows the usage\.\n$/,
    ),
  });
});

test('the commands that ./dev passes to the command line exist', async () => {
  const status = await dev('services', 'status', '--dir', join(project, 'no-services'));
  expect(status).toMatchObject({ stdout: `Start the services: ${script} earshot services up\n`, stderr: '' });
});
