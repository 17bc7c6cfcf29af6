import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandGroup, isGroup } from '../apps/cli/src/command.ts';
import { earshotCommands } from '../apps/cli/src/commands.ts';
import { accountRows } from './src/cli-rows/account.ts';
import { digestsRows } from './src/cli-rows/digests.ts';
import { localRows } from './src/cli-rows/local.ts';
import { matchesRows } from './src/cli-rows/matches.ts';
import { mcpRows } from './src/cli-rows/mcp.ts';
import { rulesRows } from './src/cli-rows/rules.ts';
import { rulesAsCodeRows } from './src/cli-rows/rules-as-code.ts';
import { done, earshotOf, type Rows, type Scene, saying, startScene } from './src/cli-rows/scene.ts';
import { webhooksRows } from './src/cli-rows/webhooks.ts';

/** One row for each command, in this order: each runs the built file, first as a process, against the real server and sandbox. */
const { 'rules delete': deleteRule, ...firstRules } = rulesRows;
const { 'webhooks delete': deleteWebhook, ...firstWebhooks } = webhooksRows;
const rows: Rows = {
  ...firstRules,
  ...matchesRows,
  ...firstWebhooks,
  ...digestsRows,
  ...(deleteWebhook && { 'webhooks delete': deleteWebhook }),
  ...accountRows,
  ...mcpRows,
  ...rulesAsCodeRows,
  ...localRows,
  ...(deleteRule && { 'rules delete': deleteRule }),
};

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene?.[Symbol.asyncDispose]());

function namesOf(group: CommandGroup, path: readonly string[] = []): string[] {
  return group.commands.flatMap((entry) => {
    const entryPath = [...path, entry.name];
    return isGroup(entry) ? namesOf(entry, entryPath) : [entryPath.join(' ')];
  });
}

test('no command is forgotten', () => {
  expect(Object.keys(rows).toSorted()).toEqual(namesOf(earshotCommands).toSorted());
});

test.for(Object.entries(rows))('earshot %s', async ([name, expectItWorks]) => {
  await expectItWorks(earshotOf(scene, name), scene);
});

test('the built file explains every group and command', async () => {
  const names = namesOf(earshotCommands);
  // With the flag a process ends as without: the rows have shown that it does.
  const groups = new Set(names.map((name) => name.split(' ').slice(0, -1).join(' ')));
  for (const name of [...groups, ...names]) {
    const outcome = await scene.cli.runResident([...name.split(' '), '--help'].filter(Boolean));
    expect(outcome).toEqual(done(saying(`Usage: earshot ${name}`.trimEnd())));
  }
});
