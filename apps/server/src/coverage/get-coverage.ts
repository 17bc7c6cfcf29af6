import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import type { CoverageStore } from './coverage-store.sql.ts';
import { coverageOf, type PlatformCoverage } from './ledger.ts';
import { completeThroughOf, isoOrNull } from './read-coverage.ts';
import type { Repair, Span } from './timeline.ts';

const dayMs = 24 * 3_600_000;
const intervalsMax = 2_000;

export interface GetCoverageOptions {
  readonly store: CoverageStore;
  readonly rules: Pick<RuleStore, 'exists'>;
  /** How far back the window reaches. Coverage of removed matches would be meaningless. */
  readonly retentionDays: number;
  readonly nowMs: () => number;
}

export function getCoverage(options: GetCoverageOptions): Handler<'GetCoverage'> {
  const { store, rules, retentionDays, nowMs } = options;
  return async ({ principal: { accountId }, request }) => {
    const ruleId = request.rule_id ?? null;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const { from, to } = windowOf(request, nowMs(), retentionDays * dayMs);
    const ledger = await store.read({ accountId, ruleId, platform: request.platform ?? null, from, to });
    const covered = coverageOf(ledger, { plannedEnds: request.planned_ends ?? false });
    const { intervals, since } = newest(covered, ledger.from.getTime());
    return {
      from: new Date(since).toISOString(),
      to: ledger.to.toISOString(),
      complete_through: completeThroughOf(covered),
      intervals,
    };
  };
}

function windowOf(
  request: RequestOf<'GetCoverage'>,
  now: number,
  windowMaxMs: number,
): { from: Date; to: Date } {
  const to = request.to === undefined ? now : Math.min(now, Date.parse(request.to));
  const wanted = request.from === undefined ? to - dayMs : Date.parse(request.from);
  return { from: new Date(Math.min(to, Math.max(wanted, now - windowMaxMs))), to: new Date(to) };
}

type WireInterval = AnswerOf<'GetCoverage'>['intervals'][number];

/** Limits the answer to the newest intervals; `since` is where they begin. */
function newest(
  covered: readonly PlatformCoverage[],
  from: number,
): { intervals: WireInterval[]; since: number } {
  const ends = covered.flatMap(({ timeline }) => timeline.map(({ to }) => to)).toSorted((a, b) => b - a);
  const since = Math.max(from, ends[intervalsMax] ?? from);
  const intervals = covered.flatMap(({ platform, timeline }) =>
    timeline
      .filter(({ to }) => to > since)
      .map((span) => toWire(platform, { ...span, from: Math.max(since, span.from) })),
  );
  return { intervals, since };
}

function toWire(platform: WireInterval['platform'], span: Span): WireInterval {
  return {
    platform,
    state: span.state,
    from: new Date(span.from).toISOString(),
    to: isoOrNull(span.to),
    reason: span.reason,
    repair: span.repair && toWireRepair(span.repair),
  };
}

function toWireRepair({
  state,
  via,
  because,
  fidelity,
  matches,
}: Repair): NonNullable<WireInterval['repair']> {
  return { state, via, reason: because, fidelity: [...fidelity], matches };
}
