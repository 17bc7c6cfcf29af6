import type { Rule } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { rulesKey } from '../../api/rules.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Modal } from '../../parts/modal.tsx';
import styles from './rules.module.css';

/** Pause, resume and delete. A deletion takes the matches along, so it asks first. */
export function RuleActions({ rule, onDeleted }: { rule: Rule; onDeleted?: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const onSuccess = () => queries.invalidateQueries({ queryKey: rulesKey });
  const isPaused = rule.state === 'paused';
  const request = { rule_id: rule.id };
  const toggle = useMutation({
    mutationFn: () => (isPaused ? api.resumeRule(request) : api.pauseRule(request)),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: () => api.deleteRule(request),
    onSuccess: () => {
      setAsking(false);
      // Before its screen reads that it is gone.
      onDeleted?.();
      return onSuccess();
    },
  });
  return (
    <div className={styles.actions}>
      <Button
        aria-label={`${isPaused ? 'Resume' : 'Pause'} ${rule.name}`}
        onClick={() => toggle.mutate()}
        isBusy={toggle.isPending}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Button aria-label={`Delete ${rule.name}`} onClick={() => setAsking(true)}>
        Delete
      </Button>
      {toggle.error && <ErrorNote error={toggle.error} />}
      {isAsking && (
        <Modal title={`Delete “${rule.name}”?`} onClose={() => setAsking(false)}>
          <p>
            Its matches are no longer listed, and it leaves its platforms within seconds. This cannot be
            undone.
          </p>
          {remove.error && <ErrorNote error={remove.error} />}
          <div className={styles.answers}>
            <Button onClick={() => setAsking(false)}>Keep it</Button>
            <Button kind="danger" onClick={() => remove.mutate()} isBusy={remove.isPending}>
              Delete the rule
            </Button>
          </div>
        </Modal>
      )}
    </div>
  );
}
