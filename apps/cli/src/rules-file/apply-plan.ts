import { createHash } from 'node:crypto';
import { type Earshot, EarshotError } from '@earshot/sdk';
import { createRequest, deleteRequest, type Plan, updateRequest } from './plan.ts';

export interface Step {
  readonly action: 'create' | 'update' | 'delete';
  readonly key: string;
}

export type StepOutcome = Step &
  (
    | { readonly outcome: 'done'; readonly ruleId: string }
    | { readonly outcome: 'failed'; readonly error: EarshotError }
    /** Not started: the run was stopped, or this step would fail like an earlier one. */
    | { readonly outcome: 'not_tried' }
  );

interface PlannedStep extends Step {
  readonly run: (earshot: Caller) => Promise<string>;
}

type Caller = Pick<Earshot, 'createRule' | 'updateRule' | 'deleteRule'>;

export interface ApplyOptions {
  readonly earshot: Caller;
  /** Whether the estimated costs of rules are accepted. */
  readonly acceptsEstimate: boolean;
  /** After it aborts, running steps finish and no new steps start. */
  readonly stop: AbortSignal;
  readonly report: (outcome: StepOutcome) => void;
}

/** A few concurrent registrations are faster, because they wait for the platforms. More would wait for each other. */
const atOnce = 4;

/**
 * Applies a plan. A failed step does not stop the others. Deletions come last, so that a replacement is active before the old
 * rule is deleted.
 */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<StepOutcome[]> {
  const { earshot, stop, report } = options;
  const outcomes: StepOutcome[] = [];
  const hopeless = { phase: false, all: false };
  const runStep = async ({ action, key, run }: PlannedStep): Promise<StepOutcome> => {
    if (stop.aborted || hopeless.phase || hopeless.all) return { action, key, outcome: 'not_tried' };
    try {
      return { action, key, outcome: 'done', ruleId: await run(earshot) };
    } catch (error) {
      if (!(error instanceof EarshotError)) throw error;
      // If the account has no room for more rules, deletions still work and make room.
      hopeless.phase ||= error.code === 'resource_exhausted';
      hopeless.all ||= concernsAll(error);
      return { action, key, outcome: 'failed', error };
    }
  };
  for (const steps of phasesOf(plan, options)) {
    hopeless.phase = false;
    const waiting = steps.values();
    const lane = async () => {
      for (const step of waiting) {
        const outcome = await runStep(step);
        outcomes.push(outcome);
        report(outcome);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
  }
  return outcomes;
}

/**
 * Whether all further calls would fail too, because the key lacks permission or the server is unreachable. A key with a
 * budget may change some rules, but not others.
 */
function concernsAll({ code, details }: EarshotError): boolean {
  if (code === 'permission_denied' && details.budget !== undefined) return false;
  return ['unauthenticated', 'permission_denied', 'unavailable', 'unknown'].includes(code);
}

function phasesOf(
  { set, updates, creates, deletes }: Plan,
  { acceptsEstimate }: Pick<ApplyOptions, 'acceptsEstimate'>,
): PlannedStep[][] {
  const accepted = acceptsEstimate && { accept_estimate: true };
  return [
    updates.map((update) => ({
      action: 'update',
      key: update.wanted.key,
      run: async (earshot) => {
        const request = { ...updateRequest(update), ...accepted };
        return (await earshot.updateRule(request, { idempotencyKey: keyOf('update', request) })).id;
      },
    })),
    creates.map((wanted) => ({
      action: 'create',
      key: wanted.key,
      run: async (earshot) =>
        (await earshot.createRule({ ...createRequest(set, wanted), ...accepted })).rule_id,
    })),
    deletes.map((rule) => ({
      action: 'delete',
      key: rule.managed_by?.key ?? rule.id,
      run: async (earshot) => {
        const request = deleteRequest(rule);
        return (await earshot.deleteRule(request, { idempotencyKey: keyOf('delete', request) })).rule_id;
      },
    })),
  ];
}

/**
 * The idempotency key of a change. It is the same in every run, so that a repeated run gets the answer of an interrupted one
 * instead of a conflict. This is safe because a request names the version that it changes. A creation has no version: if the
 * rule was deleted in the meantime, an old key would return the old answer and create nothing. For creations, the unique
 * pair of set and key prevents a second rule.
 */
function keyOf(action: string, request: object): string {
  return `apply-${action}-${createHash('sha256').update(JSON.stringify(request)).digest('hex')}`;
}
