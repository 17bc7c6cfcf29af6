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
    /** Not begun: the run was stopped, or an earlier failure says that this one would fail as well. */
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
  /** From then on nothing new is begun; what is under way is finished. */
  readonly stop: AbortSignal;
  readonly report: (outcome: StepOutcome) => void;
}

/** Registration waits for the platforms, so a few at once are faster; more would only wait for each other. */
const atOnce = 4;

/**
 * Carries a plan out. Single failures do not stop the others. Deletions come last: what replaces a rule listens before
 * the old one is gone.
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
      // A plan that is full for creations still lets rules be deleted, which makes room.
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
 * A key that may not, a server that is away: the next call would only wait for the same answer. A key with a budget may not
 * change some rules, and may change others.
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
 * The same change has the same key in every run, so a run that was cut off gets its answer instead of a conflict. A
 * request names the version that it changes, which never comes back. A creation has no such thing: after somebody deleted
 * the rule, an old key would bring the old answer and no rule. There the pair of set and key keeps a second rule out.
 */
function keyOf(action: string, request: object): string {
  return `apply-${action}-${createHash('sha256').update(JSON.stringify(request)).digest('hex')}`;
}
