import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operations } from '@earshot/contract';
import { freePorts } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  makeTempDir,
  processesOf,
  type RunningCommand,
  repository,
  startCommand,
} from './src/demo-process.ts';
import { type Block, readBlocks } from './src/page-blocks.ts';

let tempDir: string;
let demo: RunningCommand;
let env: Record<string, string>;

/** The programs of a tutorial are saved where it is followed, and its commands come back in order. */
async function follow(path: string, change: (text: string) => string = (text) => text): Promise<string[]> {
  const blocks: Block[] = (await readBlocks(path)).map((block) => ({ ...block, text: change(block.text) }));
  for (const { language, name, text } of blocks) {
    if (language === 'js') await writeFile(join(tempDir, name), text);
  }
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  return commands.filter((text) => !text.startsWith('export EARSHOT_URL=<the address>'));
}

async function run(command: string, cwd = tempDir): Promise<{ code: number; output: string }> {
  const options = { env: { ...process.env, ...env }, cwd };
  return promisify(execFile)('/bin/sh', ['-c', command], options).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: `${error.stdout}${error.stderr}`,
    }),
  );
}

beforeAll(async () => {
  tempDir = await makeTempDir();
  const [start = ''] = await follow('docs/tutorials/first-match.md');
  demo = startCommand('/bin/sh', ['-c', `exec ${start}`], tempDir);
  const [, url = ''] = await demo.line(/^API\s+(\S+)$/);
  const [, key = ''] = await demo.line(/^Key\s+(\S+)$/);
  env = { EARSHOT_URL: url, EARSHOT_API_KEY: key };
  await demo.line(/^\d\d:\d\d:\d\d {2}(x|firehose) /);
});
afterAll(async () => {
  demo?.process.kill('SIGTERM');
  await demo?.exited;
  await eventually(async () => expect(await processesOf(tempDir)).toEqual([]), { timeoutMs: 20_000 });
  await rm(tempDir, { recursive: true, force: true });
});

test('your first match in a minute', async () => {
  const [start, validate = '', create = '', tail = '', coverage = '', ...more] = await follow(
    'docs/tutorials/first-match.md',
  );
  expect([start, more]).toEqual(['./dev demo', []]);
  const refused = await run(validate, repository);
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain('X has no AND');
  expect(await run(create, repository)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^rule_\w+ is created/m),
  });
  expect((await run(tail, repository)).output).toMatch(/^(\d\d:\d\d:\d\d .*\n){3}/m);
  expect((await run(coverage, repository)).output).toMatch(/live/);
});

test('an agent that waits and acknowledges', async () => {
  const [first = '', dies = '', again = '', ...more] = await follow('docs/tutorials/agent.md');
  expect(more).toEqual([]);
  const idsOf = (output: string) => output.match(/^mat_\w+/gm) ?? [];
  const before = await run(first);
  expect(before.code).toBe(0);
  expect(idsOf(before.output).length).toBeGreaterThanOrEqual(2);

  const died = await run(dies);
  expect(died.code).toBe(1);
  const [unacknowledged] = idsOf(died.output);
  expect(idsOf(before.output)).not.toContain(unacknowledged);

  const after = await run(again);
  expect(after.code).toBe(0);
  expect(idsOf(after.output)[0]).toBe(unacknowledged);
});

test('a webhook receiver', async () => {
  const [port = 0] = await freePorts(1);
  const [create = '', keep = '', receive = '', ask = '', replay = '', forge = '', clean = '', ...more] =
    await follow('docs/tutorials/webhook-receiver.md', (text) => text.replaceAll('3000', String(port)));
  expect(more).toEqual([]);
  const created = operations.CreateWebhook.answer.parse(JSON.parse((await run(create)).output));
  for (const [, name = '', field = ''] of keep.matchAll(/(\w+)=<(\w+) of the answer>/g)) {
    env[name] = String(Object(created)[field]);
  }
  const receiver = startCommand('/bin/sh', ['-c', `cd '${tempDir}' && exec ${receive}`], tempDir, env);
  try {
    await receiver.line(/^listening$/);
    const tested = JSON.parse((await run(ask)).output);
    expect(operations.TestWebhook.answer.safeParse(tested).error).toBeUndefined();
    await receiver.line(/^test message$/);
    const [first] = await receiver.line(/^mat_\w+ (x|firehose) "/);
    expect((await run(replay, repository)).output).toMatch(/^Everything from mat_\w+ on will be sent again/m);
    await eventually(() => expect(receiver.stdout().split(first)).toHaveLength(3), { timeoutMs: 60_000 });
    expect((await run(forge)).output).toBe('400\n');
    await receiver.line(/^refused: the signature is wrong$/);
    expect(operations.DeleteWebhook.answer.safeParse(JSON.parse((await run(clean)).output)).success).toBe(
      true,
    );
  } finally {
    receiver.process.kill('SIGTERM');
    await receiver.exited;
  }
});
