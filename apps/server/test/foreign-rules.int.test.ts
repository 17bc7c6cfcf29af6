import { defaultXToken } from '@earshot/sandbox';
import { migratedTemplate } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { listForeignRules } from '../src/compose/foreign-rules.ts';
import { slotTag } from '../src/slots/slot.ts';
import { byHand, openUpstreamWorld, rulesOf } from './upstream-world.ts';

test('rules of other programs are listed, and deleted only on request; our rules stay', async () => {
  await using world = await openUpstreamWorld(migratedTemplate());
  const rules = rulesOf('x', world.client('x'));
  const ours = { value: 'acme', tag: slotTag(world.installation, 'slot_1') };
  const theirs = { value: 'happy', tag: 'theirs' };
  const staging = { value: 'sad', tag: slotTag('0123456789ab', 'slot_1') };
  await rules.add([ours, theirs, staging], byHand);
  const environment = {
    EARSHOT_DATABASE_URL: world.databaseUrl,
    EARSHOT_NATS_URL: 'nats://127.0.0.1:1',
    EARSHOT_X_TOKENS: `main=${defaultXToken}`,
    EARSHOT_X_BASE_URL: world.sandboxUrl,
  };
  const found = await listForeignRules(environment, { remove: false });
  expect(found).toMatchObject([
    { source_id: 'x:main', ...theirs },
    { source_id: 'x:main', ...staging },
  ]);
  expect(await rules.list(byHand)).toHaveLength(3);
  expect(await listForeignRules(environment, { remove: true })).toEqual(found);
  expect(await rules.list(byHand)).toMatchObject([ours]);
});
