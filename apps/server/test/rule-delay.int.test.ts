import { startSandbox } from '@earshot/sandbox';
import { eventually, startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config/config.ts';
import { createRuleStore } from '../src/rules/rule-store.sql.ts';
import { createMigratedTemplate, openTestDatabase, silentLog } from './support.ts';
import { beginRule } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const soon = { timeoutMs: 60_000 };

interface Service {
  platform: string;
  source_id: string;
  /** How long the former source still serves after the new one has confirmed the rule; null while it is the only one. */
  overlap_s: number | null;
}

test("a drained source serves a moved rule for its own platform's rule delay", async () => {
  await using clone = await template.clone();
  await using servers = await startTestNats();
  await using sandbox = await startSandbox({
    rateLimits: false,
    xApps: [{ token: 'x-1' }, { token: 'x-2' }],
    taps: [{ token: 'fh_1' }, { token: 'fh_2' }],
  });
  await using database = openTestDatabase(clone.url, 2);
  const start = (drained: readonly string[]) =>
    startNode({
      config: readConfig({
        EARSHOT_DATABASE_URL: clone.url,
        EARSHOT_NATS_URL: servers.url,
        EARSHOT_PORT: '0',
        EARSHOT_METRICS_PORT: '0',
        EARSHOT_ROLES: 'ingest',
        EARSHOT_X_TOKENS: 'main=x-1,second=x-2',
        EARSHOT_FIREHOSE_TOKENS: 'main=fh_1,second=fh_2',
        EARSHOT_X_BASE_URL: sandbox.url,
        EARSHOT_FIREHOSE_BASE_URL: sandbox.url,
        EARSHOT_TEST: 'xRuleDelayMs=20000',
        EARSHOT_DRAIN_SOURCES: drained.join(','),
      }),
      log: silentLog,
      checkpoint: () => undefined,
    });
  const services = () =>
    database.many<Service>(
      `select slots.platform, slot_services.source_id,
         extract(epoch from slot_services.to_at - slots.confirmed_at)::float8 as overlap_s
       from slot_services join slots on slots.id = slot_services.slot_id order by slots.platform, from_at`,
    );
  {
    await using _node = await start([]);
    await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
    await beginRule(createRuleStore(database), { x: 'word', firehose: 'word' });
    await eventually(async () => expect(await services()).toHaveLength(2), soon);
  }
  const first = await services();
  await using _node = await start(first.map((service) => service.source_id));
  await eventually(async () => expect(await services()).toHaveLength(4), soon);
  const former = (await services()).filter((service) =>
    first.some((one) => one.source_id === service.source_id),
  );
  expect(former).toMatchObject([
    { platform: 'firehose', overlap_s: 0 },
    { platform: 'x', overlap_s: 20 },
  ]);
});
