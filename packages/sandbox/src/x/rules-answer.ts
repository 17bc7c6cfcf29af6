import type { XApp } from './app.ts';
import type { RuleVerdict } from './rule-set.ts';

/**
 * The response to an add. The status is 201 if any rule was created or existed already, and 200 if all were
 * invalid, so clients must read `errors` and `summary` (x.md §3.3).
 */
export function summarizeAdd(
  app: XApp,
  verdicts: RuleVerdict[] | 'cap_exceeded',
  sent: string,
): { status: number; body: object } {
  if (verdicts === 'cap_exceeded') throw app.problems.ruleCapExceeded(app.ruleCap);
  const created = verdicts.flatMap((verdict) => (verdict.kind === 'created' ? [verdict.rule] : []));
  const data = created.map(({ id, value, tag }) => ({ value, ...(tag !== undefined && { tag }), id }));
  const errors = verdicts.flatMap((verdict) => toError(app, verdict));
  const summary = {
    created: created.length,
    not_created: verdicts.length - created.length,
    valid: verdicts.length - errors.length,
    invalid: errors.length,
  };
  const hasDuplicate = verdicts.some(({ kind }) => kind === 'duplicate');
  return {
    status: created.length > 0 || hasDuplicate ? 201 : 200,
    body: {
      ...(data.length > 0 && { data }),
      meta: { sent, summary },
      ...(errors.length > 0 && { errors }),
    },
  };
}

function toError({ problems, knobs }: XApp, verdict: RuleVerdict): object[] {
  switch (verdict.kind) {
    case 'created':
    case 'valid':
      return [];
    case 'duplicate': {
      const { value, id } = verdict;
      const type = problems.type('duplicate-rules');
      return [{ value, ...(knobs.duplicates === 'with_id' && { id }), title: 'DuplicateRule', type }];
    }
    case 'invalid': {
      const { value, details } = verdict;
      return [{ value, details, title: 'UnprocessableEntity', type: problems.type('invalid-rules') }];
    }
  }
}
