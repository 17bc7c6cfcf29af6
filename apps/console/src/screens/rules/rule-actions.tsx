import type { Rule } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { rulesKey } from '../../api/rules.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Modal } from '../../parts/modal.tsx';
import { neededChange } from './needed-change.ts';
import styles from './rules.module.css';

interface RuleActionsProps {
  readonly rule: Rule;
  readonly onDeleted?: () => void;
  /** Shows errors elsewhere; null when a new attempt begins. */
  readonly onError?: (error: Error | null) => void;
}

/**
 * Buttons to pause, resume and delete a rule. Deleting also deletes its matches, so it needs a confirmation. A rule that only a
 * change can resume has a link to the editor.
 */
export function RuleActions({ rule, onDeleted, onError }: RuleActionsProps) {
  const api = useApi();
  const queries = useQueryClient();
  const [isConfirming, setConfirming] = useState(false);
  const onSuccess = () => queries.invalidateQueries({ queryKey: rulesKey });
  const isPaused = rule.state === 'paused';
  const changeWords = neededChange(rule);
  const request = { rule_id: rule.id };
  const toggle = useMutation({
    mutationFn: () => (isPaused ? api.resumeRule(request) : api.pauseRule(request)),
    onMutate: () => onError?.(null),
    onError: (error) => onError?.(error),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: () => api.deleteRule(request),
    onSuccess: () => {
      setConfirming(false);
      // Leaves the screen of the rule before it finds that the rule does not exist.
      onDeleted?.();
      return onSuccess();
    },
  });
  return (
    <div className={styles.actions}>
      {changeWords === null ? (
        <Button
          aria-label={`${isPaused ? 'Resume' : 'Pause'} ${rule.name}`}
          onClick={() => toggle.mutate()}
          isBusy={toggle.isPending}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      ) : (
        <Link href={`/rules/${rule.id}`} aria-label={`${changeWords} of ${rule.name}`}>
          {changeWords}
        </Link>
      )}
      <Button aria-label={`Delete ${rule.name}`} onClick={() => setConfirming(true)}>
        Delete
      </Button>
      {toggle.error && !onError && <ErrorNote error={toggle.error} />}
      {isConfirming && (
        <Modal title={`Delete “${rule.name}”?`} onClose={() => setConfirming(false)}>
          <p>
            Earshot removes the rule from its platforms within seconds and no longer lists its matches. You
            cannot undo this.
          </p>
          {remove.error && <ErrorNote error={remove.error} />}
          <div className={styles.answers}>
            <Button onClick={() => setConfirming(false)}>Cancel</Button>
            <Button kind="danger" onClick={() => remove.mutate()} isBusy={remove.isPending}>
              Delete the rule
            </Button>
          </div>
        </Modal>
      )}
    </div>
  );
}
