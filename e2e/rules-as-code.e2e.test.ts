import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { type BuiltCli, buildCliOnce, type Outcome } from './src/built-cli.ts';
import { startListeningProxy } from './src/listening-proxy.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let cli: BuiltCli;
let account: Account;
let api: Api;

beforeAll(async () => {
  cli = await buildCliOnce(() => ({}));
  world = await startWorld();
  server = await world.startServer();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await cli?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  account = await world.newAccount();
  api = server.api(account);
});

/** Null for the URL: without a server and a key. */
function start(args: readonly string[], url: string | null = server.url) {
  const env = url === null ? {} : { EARSHOT_URL: url, EARSHOT_API_KEY: account.key };
  const { process: child, exited, output } = cli.start(args, { env });
  return { child, ended: exited.then((code): Outcome => ({ code, ...output })) };
}

const earshot = (args: readonly string[], url?: string | null) => start(args, url).ended;

async function planned(...args: string[]) {
  const { code, stdout, stderr } = await earshot(['plan', ...args, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const write = (lines: readonly string[], name = 'rules.yaml') =>
  writeFile(join(cli.dir, name), `${lines.join('\n')}\n`);

const rule = (key: string, value: string, more: readonly string[] = []) => [
  `  ${key}:`,
  `    intent: to know about ${key}`,
  `    overrides:`,
  `      x: ${value}`,
  ...more,
];

const names = async () =>
  (await api.listRules()).rules
    .map((one) => `${one.managed_by?.key ?? 'by hand'}: ${one.platforms.x?.value}`)
    .toSorted();

describe('earshot apply', () => {
  test('makes the account equal to the file; the second run only lists rules', async () => {
    await write([
      'set: launches',
      'rules:',
      ...rule('rockets', 'rocket engine', [
        '    name: Rockets!',
        '    expires_at: 2999-01-01T00:00:00Z',
        '    examples:',
        '      must_match: [{ platform: x, payload: { text: A rocket engine } }]',
      ]),
      ...rule('cakes', 'cake recipe'),
    ]);
    const first = await earshot(['apply', '--yes']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^\+ rockets\n {4}name: Rockets!\n/);
    expect(first.stdout).toMatch(/2 to create, 0 to change, 0 to delete, 0 unchanged\.\n/);
    expect(first.stdout).toMatch(/✓ created rockets \(rule_\w+\)/);
    expect(await names()).toEqual(['cakes: cake recipe', 'rockets: rocket engine']);

    await using proxy = await startListeningProxy(server.url);
    const second = await earshot(['apply', '--yes'], proxy.url);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(second.stdout).toBe(
      'Nothing to do for the set "launches": 0 to create, 0 to change, 0 to delete, 2 unchanged.\n',
    );
    expect(proxy.requestPaths()).toEqual(['/api.ListRules']);
  });

  test('changes and deletes only rules of its set: rules made by hand and rules of other files stay', async () => {
    await api.createRule({ x: 'rocket', name: 'rockets' });
    await write(['set: others', 'rules:', ...rule('rockets', 'balloon')], 'others.yaml');
    await write(['set: launches', 'rules:', ...rule('rockets', 'rocket'), ...rule('cakes', 'cake')]);
    await earshot(['apply', 'others.yaml', '--yes']);
    await earshot(['apply', '--yes']);
    expect((await api.listRules()).rules).toHaveLength(4);

    await write(['set: launches', 'rules:', ...rule('rockets', 'rocket launch'), ...rule('pies', 'pie')]);
    const plan = await planned();
    expect(plan).toMatchObject({
      create: [{ key: 'pies' }],
      update: [
        {
          key: 'rockets',
          version: 1,
          changes: [{ field: 'overrides.x', from: 'rocket', to: 'rocket launch' }],
        },
      ],
      delete: [{ key: 'cakes' }],
      unchanged: 0,
      others: 2,
    });
    await using proxy = await startListeningProxy(server.url);
    const { code, stdout } = await earshot(['apply', '--yes'], proxy.url);
    expect(code).toBe(0);
    // A replacement is active before the old rule is removed.
    expect(proxy.requestPaths()).toEqual(
      ['ListRules', 'UpdateRule', 'CreateRule', 'DeleteRule'].map((id) => `/api.${id}`),
    );
    expect(stdout).toContain('    overrides.x\n      - rocket\n      + rocket launch\n');
    expect(stdout).toContain('2 other rules of the account: not affected.');
    expect(await names()).toEqual([
      'by hand: rocket',
      'pies: pie',
      'rockets: balloon',
      'rockets: rocket launch',
    ]);

    // A file that is moved keeps its rules; an empty file gives them all up.
    await write(['set: launches', 'rules: {}'], 'moved.yaml');
    expect((await earshot(['apply', 'moved.yaml', '--yes'])).code).toBe(0);
    expect(await names()).toEqual(['by hand: rocket', 'rockets: balloon']);
  });

  test('does not prompt without a terminal, and then does nothing', async () => {
    await write(['set: launches', 'rules:', ...rule('rockets', 'rocket')]);
    const { code, stderr } = await earshot(['apply']);
    expect(code).toBe(2);
    expect(stderr).toContain('Confirm the plan with --yes.');
    expect(await names()).toEqual([]);
  });

  test('leaves a rule alone that was changed after the plan was made', async () => {
    await write(['set: launches', 'rules:', ...rule('rockets', 'rocket'), ...rule('cakes', 'cake')]);
    await earshot(['apply', '--yes']);
    const ids = new Map((await api.listRules()).rules.map((one) => [one.managed_by?.key, one.id]));
    await using proxy = await startListeningProxy(server.url);
    proxy.onAnswer(async (path) => {
      if (path !== '/api.ListRules') return;
      for (const key of ['rockets', 'cakes'])
        await api.updateRule(ids.get(key) ?? '', { name: 'changed meanwhile' });
    });
    await write(['set: launches', 'rules:', ...rule('rockets', 'rocket launch')]);
    const { code, stdout } = await earshot(['apply', '--yes'], proxy.url);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ rockets was not changed: The rule was changed: it has version 2, not 1/m);
    expect(stdout).toMatch(/^✗ cakes was not deleted: The rule was changed: it has version 2, not 1/m);
    expect(await names()).toEqual(['cakes: cake', 'rockets: rocket']);
    expect((await earshot(['apply', '--yes'])).code).toBe(0);
    expect(await names()).toEqual(['rockets: rocket launch']);
  });

  test('killed half-way and run again, it leaves every rule exactly once', async () => {
    const six = ['one', 'two', 'three', 'four', 'five', 'six'].flatMap((key) => rule(key, `${key}killed`));
    await write(['set: launches', 'rules:', ...six]);
    await using proxy = await startListeningProxy(server.url);
    let answers = 0;
    const run = start(['apply', '--yes'], proxy.url);
    proxy.onAnswer(async (path) => {
      // The server has created the rule, and the client is killed before it gets the answer.
      if (path === '/api.CreateRule' && ++answers >= 2) run.child.kill('SIGKILL');
    });
    expect((await run.ended).code).toBe('SIGKILL');
    const half = await names();
    expect(half.length).toBeGreaterThan(0);
    expect(half.length).toBeLessThan(6);
    // A rule that is still being created when the next run begins is reported as such; the run after it finds it.
    let last = await earshot(['apply', '--yes']);
    if (last.code !== 0) last = await earshot(['apply', '--yes']);
    expect(last.code).toBe(0);
    expect(await names()).toEqual(
      ['five', 'four', 'one', 'six', 'three', 'two'].map((key) => `${key}: ${key}killed`),
    );
    // Control: without the rules' set and key, applying the file again creates them twice.
    await write(['set: unmarked', 'rules:', ...six]);
    expect((await earshot(['apply', '--yes'])).code).toBe(0);
    expect(await names()).toHaveLength(12);
  });
});

describe('earshot plan', () => {
  test('reports by its exit code whether there is something to do, if requested', async () => {
    await write(['set: launches', 'rules:', ...rule('rockets', 'rocket')]);
    expect((await earshot(['plan'])).code).toBe(0);
    expect((await earshot(['plan', '--exit-code'])).code).toBe(2);
    expect(await names()).toEqual([]);
    await earshot(['apply', '--yes']);
    expect((await earshot(['plan', '--exit-code'])).code).toBe(0);
  });
});
