import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startServerProgram } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { type Api, createApi } from './src/api.ts';
import { repository } from './src/demo-process.ts';
import { run, startMachine, startTrial, untilListening } from './src/machine.ts';
import { readCommands } from './src/page-blocks.ts';
import { checkOutPreviousVersion } from './src/previous-version.ts';

const within = { timeoutMs: 90_000 };
const migrations = 'apps/server/migrations';

/** With the files of that version: an older database is refused by this one. */
async function newKeyOf(previousDir: string, databaseUrl: string): Promise<string> {
  const program = `
    const { openAdmin } = await import('${previousDir}/apps/server/src/admin.ts');
    await using admin = await openAdmin(process.env.DATABASE);
    const { accountId } = await admin.createAccount({ name: 'pages' });
    console.log((await admin.createKey({ accountId })).key);`;
  const command = 'node --input-type=module --eval "$PROGRAM"';
  return (await run(command, { PROGRAM: program, DATABASE: databaseUrl })).trim();
}

async function packsEvents(databaseUrl: string): Promise<boolean> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ packs: boolean }>('select packs_events as packs from installation');
  await client.end();
  return rows[0]?.packs ?? false;
}

test('docs/upgrade.md: from the version before to this one, with the same keys, rules and matches, while it listens', async () => {
  const { plan, apply, pack } = await readCommands('docs/upgrade.md', ['plan', 'apply', 'pack']);
  const { stack, dir, upstreams, sandbox } = await startTrial();
  await using _stack = stack;
  const previous = stack.use(await checkOutPreviousVersion());
  const machine = await startMachine(stack, dir);
  const startNode = async (script?: string) => {
    const env = { ...machine.env, ...upstreams, EARSHOT_MIGRATE_AT_START: String(script !== undefined) };
    const logFile = join(dir, 'server.log');
    return stack.use(await startServerProgram({ env, logFile, ...(script && { script }) }));
  };
  const before = await startNode(previous.script);
  const key = await newKeyOf(previous.dir, machine.urls.owner);
  const old = createApi(before.ready.address, key);
  const { rule_id: ruleId } = await old.createRule({ x: 'walnut' });
  await sandbox.posts(['a walnut']);
  await eventually(async () => expect(await old.allMatches()).toHaveLength(1), within);

  const [pending, older] = await Promise.all(
    [repository, previous.dir].map((root) => readdir(join(root, migrations))),
  );
  const missing = pending?.filter((name) => !older?.includes(name)).toSorted() ?? [];
  expect(missing.length).toBeGreaterThan(0);

  // This version refuses a database that is not migrated.
  await expect(startNode()).rejects.toThrow(missing[0]);
  expect(await run(plan, machine.env)).toBe(`To be applied:\n${missing.join('\n')}\n`);
  expect(await run(apply, machine.env)).toBe(`Applied:\n${missing.join('\n')}\n`);
  expect(await run(plan, machine.env)).toBe('Nothing is missing.\n');

  expect(await old.allMatches()).toHaveLength(1);
  const node = await startNode();
  const api = createApi(node.ready.address, key);
  await before.stop();
  expect((await api.listRules()).rules.map(({ id }) => id)).toEqual([ruleId]);
  await untilListening(sandbox);
  const texts = async (of: Api) => (await of.allMatches()).map(({ payload }) => payload.text);
  await sandbox.posts(['another walnut']);
  await eventually(async () => expect(await texts(api)).toEqual(['a walnut', 'another walnut']), within);

  // The version before has made it: its nodes might still run.
  expect(await packsEvents(machine.urls.owner)).toBe(false);
  expect(await run(pack, machine.env)).toBe('Events share messages from the next start of each node on.\n');
  expect(await packsEvents(machine.urls.owner)).toBe(true);
  const packing = createApi((await startNode()).ready.address, key);
  await node.stop();
  await untilListening(sandbox);
  await sandbox.posts(Array.from({ length: 20 }, (_, n) => `walnut ${n}`));
  await eventually(async () => expect(await texts(packing)).toHaveLength(22), within);
});
