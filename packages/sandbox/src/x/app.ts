import { randomUUID } from 'node:crypto';
import type { Tier } from '@earshot/query';
import type { Clock } from '../clock.ts';
import { createFixedWindow, type FixedWindow } from '../rate-limit.ts';
import type { NextSnowflake } from '../snowflake.ts';
import { compileXRule } from './compile-rule.ts';
import { type Connections, createConnections } from './connections.ts';
import { createDelayedRules, type DelayedRules } from './delayed-rules.ts';
import type { XDialect } from './dialects.ts';
import { createJournal, type Journal } from './journal.ts';
import { createMeter, type Meter } from './metering.ts';
import { createProblems, type XProblems } from './problems.ts';
import { type BatchPolicy, createRuleSet, type RuleSet } from './rule-set.ts';

export const xPlans = [
  'payg',
  'enterprise',
  'embedding',
  'free',
  'out_of_credit',
  'spend_cap',
  'usage_cap',
] as const;
/** `embedding` is `enterprise` with the operators of the Embedding tier. */
export type XPlan = (typeof xPlans)[number];

export interface XAppOptions {
  readonly token: string;
  readonly plan?: XPlan;
  /** Default 1,000, or 25,000 for `enterprise` and `embedding`. */
  readonly ruleCap?: number;
  /** Whether an invalid rule rejects its whole batch; X does not document it. Default `partial`. */
  readonly batchPolicy?: BatchPolicy;
  /** What happens to a connection beyond the limit. Default `refuse`, as observed. */
  readonly secondConnection?: 'refuse' | 'replace';
  /** Service time for which a connection still counts after its client has gone. Default 0. */
  readonly connectionHoldMs?: number;
  /** Host in the `type` of problems. Default `api.twitter.com`, which X still sends. */
  readonly problemHost?: string;
  /** Whether a DuplicateRule error contains the id of the existing rule. Default true. */
  readonly duplicateIds?: boolean;
  /** The words that search takes and answers with; X's guides and its OpenAPI document differ. Default `post`. */
  readonly searchDialect?: XDialect;
}

export type XLimit =
  | 'stream'
  | 'list'
  | 'change'
  | 'counts'
  | 'connections'
  | 'killAll'
  | 'search'
  | 'searchAll'
  | 'compliance';

/** A job of batch compliance: ids are uploaded, and the results say which posts are gone, and why. */
export interface ComplianceJob {
  readonly id: string;
  readonly name: string | null;
  readonly createdMs: number;
  upload: { readonly ids: readonly string[]; readonly atMs: number } | null;
}

/** All state of one app, which is identified by its bearer token. */
export interface XApp {
  readonly token: string;
  readonly clientAppId: string;
  plan: XPlan;
  readonly ruleCap: number;
  readonly duplicateIds: boolean;
  readonly searchDialect: XDialect;
  readonly problems: XProblems;
  readonly rules: RuleSet;
  readonly liveRules: DelayedRules;
  readonly connections: Connections;
  readonly meter: Meter;
  readonly journal: Journal;
  readonly complianceJobs: Map<string, ComplianceJob>;
  readonly limits: Record<XLimit, FixedWindow>;
  /** Under way. */
  recoveries: number;
}

const windowMs = 15 * 60_000;
const callsPerWindow: Record<XLimit, number> = {
  stream: 50,
  list: 450,
  change: 100,
  counts: 450,
  connections: 450,
  killAll: 25,
  search: 450,
  searchAll: 300,
  compliance: 150,
};

export interface XAppDeps {
  readonly clock: Clock;
  readonly nextId: NextSnowflake;
  readonly ruleDelayMs: number;
  readonly rateLimits: boolean;
}

export function createXApp(options: XAppOptions & XAppDeps): XApp {
  const { clock, nextId, ruleDelayMs, rateLimits } = options;
  const plan = options.plan ?? 'payg';
  const isEnterprise = tierOf(plan) !== 'standard';
  const ruleCap = options.ruleCap ?? (isEnterprise ? 25_000 : 1_000);
  const connections = createConnections({
    connectionsMax: isEnterprise ? 2 : 1,
    replaceOldest: options.secondConnection === 'replace',
    holdMs: options.connectionHoldMs ?? 0,
    clock,
  });
  const isStreaming = () => connections.open().length > 0;
  const liveRules = createDelayedRules({ delayMs: ruleDelayMs, isStreaming });
  const window = (limit: XLimit) =>
    createFixedWindow({
      limit: rateLimits ? callsPerWindow[limit] : Number.MAX_SAFE_INTEGER,
      windowMs: clock.realMs(windowMs),
      nowMs: clock.nowMs,
    });
  const app: XApp = {
    token: options.token,
    clientAppId: String(Number.parseInt(randomUUID().slice(0, 7), 16) + 10_000_000),
    plan,
    ruleCap,
    duplicateIds: options.duplicateIds ?? true,
    searchDialect: options.searchDialect ?? 'post',
    problems: createProblems(options.problemHost ?? 'api.twitter.com'),
    rules: createRuleSet({
      compile: (value) => compileXRule(value, tierOf(app.plan)),
      nextId: () => nextId(clock.nowMs()),
      cap: ruleCap,
      batchPolicy: options.batchPolicy ?? 'partial',
      onChange: liveRules.change,
    }),
    liveRules,
    connections,
    meter: createMeter(),
    journal: createJournal(),
    complianceJobs: new Map(),
    limits: {
      stream: window('stream'),
      list: window('list'),
      change: window('change'),
      counts: window('counts'),
      connections: window('connections'),
      killAll: window('killAll'),
      search: window('search'),
      searchAll: window('searchAll'),
      compliance: window('compliance'),
    },
    recoveries: 0,
  };
  return app;
}

function tierOf(plan: XPlan): Tier {
  return plan === 'enterprise' || plan === 'embedding' ? plan : 'standard';
}
