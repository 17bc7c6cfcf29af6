import type { Platform } from '@earshot/contract';
import { defaultTapToken, defaultXToken, type SandboxOptions, startSandbox } from '@earshot/sandbox';
import type { Template } from '@earshot/testkit';
import type { Bells } from '../src/engines/bells.ts';
import type { Database } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { createSourceStore } from '../src/ingest/source-store.sql.ts';
import {
  type BeginOutcome,
  type Completion,
  createRuleStore,
  type RuleStore,
} from '../src/rules/rule-store.sql.ts';
import { newId } from '../src/runtime/ids.ts';
import type { Worker } from '../src/runtime/worker.ts';
import { createUpstreamClient, type UpstreamClient } from '../src/upstream/client.ts';
import { createFirehoseRules } from '../src/upstream/firehose/rules.ts';
import { createFirehoseStream } from '../src/upstream/firehose/stream.ts';
import type { UpstreamCall } from '../src/upstream/upstream-rules.ts';
import { createXRules } from '../src/upstream/x/rules.ts';
import { createXStream } from '../src/upstream/x/stream.ts';
import { createLocalBells } from './local-bells.ts';
import { createSandboxControl, type SandboxControl } from './sandbox-control.ts';
import { openTestDatabase } from './support.ts';

export interface UpstreamWorld extends AsyncDisposable {
  readonly database: Database;
  readonly installation: string;
  readonly sandbox: SandboxControl;
  readonly sandboxUrl: string;
  readonly databaseUrl: string;
  readonly bells: Bells;
  readonly rules: RuleStore;
  /** A client of the sandbox with the default credential; its calls are counted. */
  client(platform: Platform): CountedClient;
}

export interface CountedClient extends UpstreamClient {
  readonly calls: ReadonlyArray<{ method: string; path: string; body: unknown }>;
}

/** A database with one source per platform, and a sandbox behind them. */
export async function openUpstreamWorld(
  template: Template,
  options: SandboxOptions = {},
): Promise<UpstreamWorld> {
  await using stack = new AsyncDisposableStack();
  const clone = stack.use(await template.clone());
  const database = stack.use(openTestDatabase(clone.url));
  const { url } = stack.use(await startSandbox({ rateLimits: false, ruleDelayMs: 0, ...options }));
  await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
  await createSourceStore(database).announce([
    { id: 'x:main', platform: 'x', capacity: 1_000 },
    { id: 'firehose:main', platform: 'firehose', capacity: 1_000 },
  ]);
  const clients = stack.move();
  return {
    database,
    installation: (await readInstallation(database)).id,
    sandbox: createSandboxControl(url),
    sandboxUrl: url,
    databaseUrl: clone.url,
    bells: createLocalBells(),
    rules: createRuleStore(database),
    client(platform) {
      const token = platform === 'x' ? defaultXToken : defaultTapToken;
      return countCalls(clients.use(createUpstreamClient({ baseUrl: url, token, name: platform })));
    },
    [Symbol.asyncDispose]: () => clients.disposeAsync(),
  };
}

function countCalls(client: UpstreamClient): CountedClient {
  const calls: Array<{ method: string; path: string; body: unknown }> = [];
  return {
    ...client,
    calls,
    call(method, path, options) {
      calls.push({ method, path, body: options.body });
      return client.call(method, path, options);
    },
  };
}

export function rulesOf(platform: Platform, client: UpstreamClient, pace = 1) {
  return platform === 'x' ? createXRules(client, { pace }) : createFirehoseRules(client, { pace });
}

export function streamOf(platform: Platform, client: UpstreamClient) {
  return platform === 'x' ? createXStream(client) : createFirehoseStream(client);
}

/** A call without limits: for manual changes of the upstream's rules. */
export const byHand: UpstreamCall = { signal: new AbortController().signal, permit: () => Promise.resolve() };

/** Writes a rule of `acc_1` and takes its slots, as a creation does before it waits for the registrar. */
export async function beginRule(
  rules: RuleStore,
  values: Partial<Record<Platform, string>>,
  {
    accountId = 'acc_1',
    premiumRulesMax = 1_000,
    completionOf,
  }: {
    accountId?: string;
    premiumRulesMax?: number;
    completionOf?: (ruleId: string) => Completion;
  } = {},
): Promise<{ ruleId: string; outcome: BeginOutcome }> {
  const ruleId = newId('rule');
  const rule = {
    id: ruleId,
    accountId,
    createdBy: 'key_1',
    name: 'rule',
    intent: 'test',
    expiresAt: null,
    premiumRulesMax,
    values: (['x', 'firehose'] as const).flatMap((platform) => {
      const value = values[platform];
      return value === undefined ? [] : [{ platform, value, translatedValue: value }];
    }),
  };
  return { ruleId, outcome: await rules.begin(rule, completionOf?.(ruleId)) };
}

/** Runs a worker until it is disposed; disposing throws what the worker threw. */
export function runWorker(worker: Worker): AsyncDisposable {
  const stop = new AbortController();
  const running = worker.run(stop.signal);
  // The test checks its outcome when it disposes of it.
  running.catch(() => undefined);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
