import { randomUUID } from 'node:crypto';
import type { Tier } from '@earshot/query';
import type { Clock } from '../clock.ts';
import { assumedPositions } from '../knobs.ts';
import { createFixedWindow, type FixedWindow } from '../rate-limit.ts';
import type { NextSnowflake } from '../snowflake.ts';
import { compileXRule } from './compile-rule.ts';
import { type Connections, createConnections } from './connections.ts';
import { createDelayedRules, type DelayedRules } from './delayed-rules.ts';
import { createJournal, type Journal } from './journal.ts';
import { type XKnobs, xKnobs } from './knobs.ts';
import { createMeter, type Meter } from './metering.ts';
import { createProblems, type XProblems } from './problems.ts';
import { createRuleSet, type RuleSet } from './rule-set.ts';

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
  /** Initial positions that differ from the assumptions about X. */
  readonly knobs?: Partial<XKnobs>;
  /** Host in the `type` of problems. Default `api.twitter.com`, which X still sends. */
  readonly problemHost?: string;
}

export type XLimit =
  | 'stream'
  | 'list'
  | 'change'
  | 'ruleCounts'
  | 'connections'
  | 'killAll'
  | 'search'
  | 'searchAll'
  | 'countsRecent'
  | 'countsAll'
  | 'usage'
  | 'compliance';

/** A batch compliance job: ids are uploaded, and the results list the removed posts with the reason. */
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
  readonly knobs: XKnobs;
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
  ruleCounts: 450,
  connections: 450,
  killAll: 25,
  search: 450,
  searchAll: 300,
  countsRecent: 300,
  countsAll: 300,
  usage: 50,
  compliance: 150,
};

export interface XAppDeps {
  readonly clock: Clock;
  readonly nextId: NextSnowflake;
  readonly ruleDelayMs: number;
  readonly rateLimits: boolean;
}

export function createXApp(options: XAppOptions & XAppDeps): XApp {
  const { clock, nextId, ruleDelayMs } = options;
  const plan = options.plan ?? 'payg';
  const isEnterprise = tierOf(plan) !== 'standard';
  const ruleCap = options.ruleCap ?? (isEnterprise ? 25_000 : 1_000);
  const knobs = { ...assumedPositions(xKnobs), ...options.knobs };
  const connections = createConnections({
    connectionsMax: isEnterprise ? 2 : 1,
    knobs,
    clock,
  });
  const isStreaming = () => connections.open().length > 0;
  const liveRules = createDelayedRules({ delayMs: ruleDelayMs, knobs, isStreaming });
  const app: XApp = {
    token: options.token,
    clientAppId: String(Number.parseInt(randomUUID().slice(0, 7), 16) + 10_000_000),
    plan,
    ruleCap,
    knobs,
    problems: createProblems(options.problemHost ?? 'api.twitter.com'),
    rules: createRuleSet({
      compile: (value) => compileXRule(value, { tier: tierOf(app.plan), lengthUnit: knobs.lengthUnit }),
      nextId: () => nextId(clock.nowMs()),
      cap: ruleCap,
      knobs,
      onChange: (change) => {
        liveRules.change(change);
        if (knobs.withoutRules === 'closes' && app.rules.list().length === 0) app.connections.closeAll();
      },
    }),
    liveRules,
    connections,
    meter: createMeter(),
    journal: createJournal(),
    complianceJobs: new Map(),
    limits: createLimits(options),
    recoveries: 0,
  };
  return app;
}

function createLimits({ clock, rateLimits }: XAppDeps): XApp['limits'] {
  const window = (limit: XLimit) =>
    createFixedWindow({
      limit: rateLimits ? callsPerWindow[limit] : Number.MAX_SAFE_INTEGER,
      windowMs: clock.realMs(windowMs),
      nowMs: clock.nowMs,
    });
  return {
    stream: window('stream'),
    list: window('list'),
    change: window('change'),
    ruleCounts: window('ruleCounts'),
    connections: window('connections'),
    killAll: window('killAll'),
    search: window('search'),
    searchAll: window('searchAll'),
    countsRecent: window('countsRecent'),
    countsAll: window('countsAll'),
    usage: window('usage'),
    compliance: window('compliance'),
  };
}

function tierOf(plan: XPlan): Tier {
  return plan === 'enterprise' || plan === 'embedding' ? plan : 'standard';
}
