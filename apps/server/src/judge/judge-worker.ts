import type { Bells } from '../engines/bells.ts';
import type { Database } from '../engines/database.ts';
import { raiseNotices } from '../notices/notice-log.sql.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { MatchReader, StoredMatch } from '../readers/match-reader.sql.ts';
import { type FoundMatch, findMatches } from '../relevance/relevance.sql.ts';
import { pause } from '../runtime/worker.ts';
import type { JudgeClient, JudgeFailure } from './judge-client.ts';
import { type JudgePrices, settledUsd } from './judge-cost.ts';
import { type JudgeInput, judgementKey } from './judge-request.ts';
import type { JudgedRuleRow, JudgeStore, LabelledMatch, StoredVerdict } from './judge-store.sql.ts';

/*
 * The judge reads stored matches behind the readers, so it delays and loses nothing. It is done with a match when its verdict is stored;
 * a fault of the judge or a spent budget is stored as `unjudged`, which no filter hides.
 */

export interface JudgeWorkerOptions {
  readonly database: Database;
  readonly store: JudgeStore;
  readonly client: JudgeClient;
  readonly prices: JudgePrices;
  readonly usdPerDay: number;
  readonly reader: Pick<MatchReader, 'read'>;
  readonly bells: Bells;
  readonly telemetry: Pick<Telemetry, 'matchJudged'>;
  readonly nowMs: () => number;
}

/** Matches of one rule that are read at once. Each is one call. */
const pageMax = 32;
const examplesMax = 8;
/** A match waits this long for a judge that fails; then it stays unjudged. Readers wait no longer (readers/views.ts). */
const patienceMs = 30_000;
const pauseAfterFaultMs = 5_000;
const pauseMsMax = 30_000;
/** The labelled matches that are judged again after a change of model or intent. */
const comparedMax = 200;
const comparedMin = 20;
/** A drop of this share of right verdicts raises a notice. */
const driftMin = 0.05;

/** One step: judges what waits. Returns true if it may have left matches. */
export function createJudgeStep(options: JudgeWorkerOptions) {
  const { store } = options;
  const judge = createJudge(options);
  return async (signal: AbortSignal): Promise<boolean> => {
    const rules = await store.waitingRules();
    const left = await Promise.all(rules.map((rule) => judgeRule(options, judge, rule, signal)));
    return left.some(Boolean);
  };
}

type Judge = ReturnType<typeof createJudge>;

async function judgeRule(
  { store, reader, database }: JudgeWorkerOptions,
  judge: Judge,
  rule: JudgedRuleRow,
  signal: AbortSignal,
): Promise<boolean> {
  const end = await store.end(rule.id, rule.accountId);
  const query = { accountId: rule.accountId, ruleIds: [rule.id], platform: null, since: null, until: null };
  const page = await reader.read({ ...query, order: 'oldest', from: rule.position, limit: pageMax });
  const examples = page.matches.length > 0 ? await readExamples(database, store, rule) : [];
  await Promise.all(
    page.matches.map(async (match) => {
      const given = await judge(rule, { match, examples, signal });
      if (given) await store.store(rule, match, given);
    }),
  );
  if (signal.aborted) return false;
  // Only removals, or matches that retention has removed, are left up to the end.
  await store.advance(
    rule.id,
    page.more ? (page.matches.at(-1)?.position ?? end) : Math.max(end, page.matches.at(-1)?.position ?? 0),
  );
  return page.more;
}

interface JudgeTask {
  readonly match: Pick<StoredMatch, 'createdAt' | 'payload'>;
  readonly examples: JudgeInput['examples'];
  readonly signal: AbortSignal;
}

/** Returns the verdict of one match, from an equal one if there is; null if the signal was aborted. */
function createJudge({ store, client, prices, usdPerDay, telemetry, nowMs }: JudgeWorkerOptions) {
  /** While the judge fails, no match calls it. */
  let pausedUntilMs = 0;
  const call = async (rule: JudgedRuleRow, input: JudgeInput, signal: AbortSignal) => {
    const reservation = await store.reserve(rule, client.reservedUsd(input, prices), usdPerDay);
    if (reservation === null) return null;
    const result = await client.judge(input, signal);
    await store.settle(rule, reservation, settledUsd(reservation.usd, result, prices));
    telemetry.matchJudged({
      ruleId: rule.id,
      outcome: result.failed ?? result.verdict,
      failed: result.failed !== undefined,
      status: result.failed ? result.status : null,
    });
    return result;
  };
  const judgeOne = async (
    rule: JudgedRuleRow,
    key: string,
    { match, examples, signal }: JudgeTask,
  ): Promise<StoredVerdict | null> => {
    const known = await store.known(rule, key);
    if (known) return known;
    const { intent, relevance } = rule;
    const input = { intent, criteria: relevance.criteria, examples, item: match.payload };
    const untilMs = match.createdAt.getTime() + patienceMs;
    for (;;) {
      const waitMs = pausedUntilMs - nowMs();
      if (waitMs > 0 && nowMs() + waitMs >= untilMs) return unjudged('unavailable');
      if (waitMs > 0) await pause(waitMs, signal);
      if (signal.aborted) return null;
      const result = await call(rule, input, signal).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
      if (result === undefined) return null;
      if (result === null) return unjudged('budget');
      if (!result.failed) return { verdict: result.verdict, reason: result.reason, key };
      const pauseMs = pauseAfter(result);
      if (pauseMs === null) return unjudged(result.failed);
      pausedUntilMs = Math.max(pausedUntilMs, nowMs() + pauseMs);
      if (nowMs() + pauseMs >= untilMs) return unjudged(result.failed);
    }
  };
  /** Copies often arrive together: they wait for the first of them. */
  const running = new Map<string, Promise<StoredVerdict | null>>();
  return (rule: JudgedRuleRow, task: JudgeTask): Promise<StoredVerdict | null> => {
    const { id: ruleId, intentVersion } = rule;
    const key = judgementKey({ ruleId, intentVersion, item: task.match.payload });
    const judging = running.get(key) ?? judgeOne(rule, key, task).finally(() => running.delete(key));
    running.set(key, judging);
    return judging;
  };
}

function unjudged(reason: string): StoredVerdict {
  return { verdict: 'unjudged', reason, key: null };
}

/** Null if the answer itself is at fault: the next item may get a better one at once. */
function pauseAfter({ failed, retryAfterMs }: JudgeFailure): number | null {
  if (failed === 'malformed' || failed === 'schema') return null;
  return Math.min(retryAfterMs ?? pauseAfterFaultMs, pauseMsMax);
}

/** The newest labelled items of both kinds that are still stored. */
async function readExamples(
  database: Database,
  store: JudgeStore,
  rule: JudgedRuleRow,
): Promise<JudgeInput['examples']> {
  const labelled = await store.labelled(rule.id, comparedMax);
  const newest = (label: string) => labelled.filter((one) => one.label === label).slice(0, examplesMax / 2);
  const chosen = [...newest('relevant'), ...newest('not_relevant')];
  if (chosen.length === 0) return [];
  const stored = await storedOf(database, rule, chosen);
  const payloads = new Map(stored.map(({ position, payload }) => [position, payload]));
  return chosen.flatMap(({ position, label }) => {
    const payload = payloads.get(position);
    const text = payload && [payload.title, payload.text].filter(Boolean).join('\n');
    return text ? [{ label, text }] : [];
  });
}

/** Those of the labelled matches that are still stored. */
function storedOf(
  database: Database,
  { accountId }: JudgedRuleRow,
  labelled: readonly LabelledMatch[],
): Promise<FoundMatch[]> {
  const positions = labelled.map(({ position }) => position);
  return findMatches(database.forAccount(accountId), accountId, positions);
}

/** After a change of model or intent, judges the labelled matches again and compares the right verdicts before and after. */
export function createCompareStep(options: JudgeWorkerOptions) {
  const { store, database, bells } = options;
  const judge = createJudge(options);
  return async (signal: AbortSignal): Promise<void> => {
    for (const rule of await store.rulesToCompare()) {
      const labelled = await store.labelled(rule.id, comparedMax);
      const found = await storedOf(database, rule, labelled);
      const labels = new Map(labelled.map((one) => [one.position, one]));
      let [before, after, compared] = [0, 0, 0];
      for (const match of found) {
        const one = labels.get(match.position);
        if (!one) continue;
        // Without the labels themselves as examples: they are the question.
        const task = {
          match: { ...match, createdAt: new Date(options.nowMs()) },
          examples: [],
          signal,
        };
        const given = await judge(rule, task);
        if (given === null) return;
        if (given.verdict === 'unjudged') continue;
        await store.store(rule, match, given);
        if (one.verdict === null || one.verdict === 'unjudged') continue;
        compared += 1;
        before += isRight(one.label, one.verdict) ? 1 : 0;
        after += isRight(one.label, given.verdict) ? 1 : 0;
      }
      if (compared >= comparedMin && (before - after) / compared >= driftMin) {
        const percent = (right: number) => Math.round((100 * right) / compared);
        const data = { labels: compared, right_before: percent(before), right_after: percent(after) };
        const name = await database.one<{ name: string }>('select name from rules where id = $1', [rule.id]);
        const subject = { kind: 'rule', id: rule.id, name: name?.name ?? rule.id } as const;
        const raised = await database.transaction((sql) =>
          raiseNotices(sql, [rule.accountId], { type: 'judge.drift', subject, data }),
        );
        if (raised > 0) bells.ring('notices');
      }
      await store.compared(rule);
    }
  };
}

/** The judge is unsure without being wrong. */
function isRight(label: 'relevant' | 'not_relevant', verdict: string): boolean {
  return (label === 'not_relevant') === (verdict === 'not_relevant');
}
