import { EarshotError, type Rule } from '@earshot/sdk';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Modal } from '../../parts/modal.tsx';
import type { Draft } from './draft.ts';
import styles from './editor.module.css';
import { languages } from './languages.ts';
import { planOf } from './plan.ts';

export interface AcceptOptions {
  readonly accept_suspicious?: true;
  readonly accept_estimate?: true;
}

interface PlanProps {
  readonly draft: Draft;
  readonly rule: Rule | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onApply: (accepted: AcceptOptions) => void;
  readonly onClose: () => void;
}

/** Shows what saving changes, and asks for confirmation. */
export function PlanDialog({ draft, rule, error, isPending, onApply, onClose }: PlanProps) {
  const [acceptsSuspicious, setAcceptsSuspicious] = useState(false);
  const [estimate, setEstimate] = useState(false);
  const lines = planOf(draft, rule);
  const hasSuspicious = draft.chosen.some((platform) =>
    languages[platform]
      .validate(draft.queries[platform])
      .diagnostics.some(({ severity }) => severity === 'suspicious'),
  );
  const isAboveBudget = error instanceof EarshotError && 'estimate' in error.details;
  return (
    <Modal title={rule ? 'Change the rule' : 'Create the rule'} onClose={onClose}>
      {lines.length === 0 ? <p>There are no changes to save.</p> : null}
      <dl className={styles.plan}>
        {lines.map(({ what, before, after, isCode }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd data-code={isCode}>
              {before !== null && <del>{before}</del>} {after !== null && <ins>{after}</ins>}
            </dd>
          </div>
        ))}
      </dl>
      {error && <ErrorNote error={error} />}
      {hasSuspicious && (
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={acceptsSuspicious}
            onChange={({ target }) => setAcceptsSuspicious(target.checked)}
          />
          Register it although it is probably a mistake
        </label>
      )}
      {isAboveBudget && (
        <label className={styles.check}>
          <input type="checkbox" checked={estimate} onChange={({ target }) => setEstimate(target.checked)} />
          Continue although the estimate is above the budget
        </label>
      )}
      <div className={styles.answers}>
        <Button onClick={onClose}>Back</Button>
        <Button
          kind="primary"
          disabled={lines.length === 0}
          isBusy={isPending}
          onClick={() =>
            onApply({
              ...(acceptsSuspicious && { accept_suspicious: true }),
              ...(estimate && { accept_estimate: true }),
            })
          }
        >
          {buttonWords(rule !== undefined, isPending)}
        </Button>
      </div>
    </Modal>
  );
}

function buttonWords(isChange: boolean, isPending: boolean): string {
  if (isPending) return 'Waiting for the platforms …';
  return isChange ? 'Apply' : 'Create';
}
