import { startSandbox } from '@earshot/sandbox';
import type { Template } from '@earshot/testkit';
import { z } from 'zod';
import type { Bells } from '../../src/engines/bells.ts';
import type { Database } from '../../src/engines/database.ts';
import { readInstallation } from '../../src/engines/installation.ts';
import { createSourceStore } from '../../src/ingest/source-store.sql.ts';
import { createOldSlots, type OldSlots } from '../../src/rules/release-old-slots.ts';
import { createRuleStore, type RuleStore } from '../../src/rules/rule-store.sql.ts';
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.ts';
import { changesOf } from '../changes.ts';
import { createLocalBells } from '../local-bells.ts';
import { openTestDatabase } from '../support.ts';
import { byHand, rulesOf } from '../upstream-world.ts';

/** Few places, so that histories reach the capacity. */
export const capacity = 2;

export const sources = [
  { id: 'x:main', platform: 'x', token: 'model-x-1' },
  { id: 'x:second', platform: 'x', token: 'model-x-2' },
  { id: 'firehose:main', platform: 'firehose', token: 'fh_model_1' },
  { id: 'firehose:second', platform: 'firehose', token: 'fh_model_2' },
] as const;
/** It accepts less than is configured, and reports this only by refusals. No rule is added to it by hand. */
export const smallSource = 'firehose:second';
const smallCapacity = 1;
export type ModelSource = (typeof sources)[number];

const rule = z.looseObject({ id: z.string(), value: z.string(), tag: z.string().nullish() });
const state = z.looseObject({ rules: z.array(rule) });
export type SandboxRule = z.output<typeof rule>;

export interface ModelWorld extends AsyncDisposable {
  readonly database: Database;
  readonly installation: string;
  readonly rules: RuleStore;
  readonly changes: ReturnType<typeof changesOf>;
  readonly oldSlots: OldSlots;
  readonly bells: Bells;
  readonly clients: ReadonlyMap<string, UpstreamClient>;
  upstreamRules(source: ModelSource): Promise<SandboxRule[]>;
  changeByHand(source: ModelSource, change: { add?: string; remove?: string }): Promise<void>;
  drain(source: ModelSource, draining: boolean): Promise<void>;
  arm(fault: Record<string, unknown>): Promise<void>;
  /** Ends all faults; returns how often each kind fired. */
  endFaults(): Promise<ReadonlyArray<{ kind: string; fired: number }>>;
  /** Empties the installation. */
  reset(): Promise<void>;
}

const faultList = z.object({ faults: z.array(z.looseObject({ kind: z.string(), fired: z.number() })) });

/** One database and one sandbox for all histories. */
export async function openModelWorld(template: Template): Promise<ModelWorld> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await template.clone());
  // No history ends with a power failure, and commits that wait for the disk take most of its time.
  const database = stack.use(openTestDatabase(`${url}?options=-c%20synchronous_commit%3Doff`, 16));
  const sandbox = stack.use(
    await startSandbox({
      rateLimits: false,
      ruleDelayMs: 0,
      xApps: [
        { token: sources[0].token },
        { token: sources[1].token, knobs: { batchPolicy: 'all_or_nothing' } },
      ],
      taps: [{ token: sources[2].token }, { token: sources[3].token, ruleCap: smallCapacity }],
    }),
  );
  const clients = new Map(
    sources.map(({ id, token }) => [
      id,
      stack.use(createUpstreamClient({ baseUrl: sandbox.url, token, name: id })),
    ]),
  );
  await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
  // No history has events.
  await database.run(`update match_progress set matched_through = 'infinity'`);
  const registry = createSourceStore(database);
  await registry.announce(sources.map((source) => ({ ...source, capacity })));
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const answer = await fetch(new URL(path, sandbox.url), init);
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
    return await answer.json();
  };
  const arm = async (fault: Record<string, unknown>) => void (await ask('POST', '/sandbox/faults', fault));
  const endFaults = async () => {
    const { faults } = faultList.parse(await ask('GET', '/sandbox/faults'));
    await ask('DELETE', '/sandbox/faults');
    return faults;
  };
  const running = stack.move();
  return {
    database,
    installation: (await readInstallation(database)).id,
    rules: createRuleStore(database),
    changes: changesOf(database),
    oldSlots: createOldSlots(database),
    drain: (source, draining) => registry.announce([{ ...source, capacity, draining }]),
    bells: createLocalBells(),
    clients,
    async upstreamRules({ platform, token }) {
      return state.parse(await ask('GET', `/sandbox/${platform}/state?token=${token}`)).rules;
    },
    async changeByHand({ id, platform }, { add, remove }) {
      const client = clients.get(id);
      if (!client) throw new Error(`no client of ${id}`);
      const upstream = rulesOf(platform, client);
      if (add !== undefined) await upstream.add([{ value: add, tag: 'by hand' }], byHand);
      if (remove !== undefined) await upstream.remove([remove], byHand);
    },
    arm,
    endFaults,
    async reset() {
      for (const table of ['slot_holders', 'slots', 'rules', 'upstream_calls', 'leases']) {
        await database.run(`delete from ${table}`);
      }
      await database.run(
        `update sources set enabled = true, learnt_capacity = null, learnt_at = null, rules_seen_at = null,
           capacity = configured_capacity`,
      );
      await arm({ kind: 'rules_vanish' });
      await endFaults();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
