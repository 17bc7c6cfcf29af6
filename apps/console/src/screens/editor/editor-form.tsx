import { EarshotError, type Rule } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { lazyScreen } from '../../api/load-screen.ts';
import { rulesKey } from '../../api/rules.ts';
import { useShortcuts } from '../../frame/shortcuts.tsx';
import { Button } from '../../parts/button.tsx';
import { platformNames, platforms } from '../../parts/platforms.ts';
import { creationOf, type Draft, missingIn, overridesOf, updateOf } from './draft.ts';
import styles from './editor.module.css';
import { FieldProblems, type Violation } from './field-problems.tsx';
import { LimitsFields } from './limits-fields.tsx';
import type { AcceptOptions } from './plan-dialog.tsx';
import { PreviewPanel } from './preview-panel.tsx';
import { QueryField } from './query-field.tsx';
import { type AddedExample, useKeptDraft } from './use-kept-draft.ts';

const ExamplesField = lazyScreen(async () => (await import('./examples-field.tsx')).ExamplesField);
const AlertsField = lazyScreen(async () => (await import('./alerts-field.tsx')).AlertsField);
const JudgeFields = lazyScreen(async () => (await import('./judge-fields.tsx')).JudgeFields);
const PlanDialog = lazyScreen(async () => (await import('./plan-dialog.tsx')).PlanDialog);

export function EditorForm({ rule, added }: { rule?: Rule; added?: AddedExample | undefined }) {
  const { draft, setDraft, isRestored, discard } = useKeptDraft(rule, added);
  const [isPlanning, setPlanning] = useState(false);
  const [isChecked, setChecked] = useState(false);
  const preview = usePreview(rule);
  const save = useSave(draft, rule, { onSaved: discard, onInvalidField: () => setPlanning(false) });
  const missing = missingIn(draft);
  const violations = [
    ...(isChecked ? missing : []),
    ...violationsOf(save.error),
    ...violationsOf(preview.error),
  ];
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }));
  useShortcuts('Editor', [{ keys: 'p', label: 'Preview', run: () => preview.mutate(draft) }]);
  return (
    <div className={styles.editor}>
      <form className={styles.form} onSubmit={(event) => event.preventDefault()}>
        {isRestored && (
          <p className={styles.quiet}>
            This is your unsaved draft.{' '}
            <Button kind="plain" onClick={discard}>
              Discard it
            </Button>
          </p>
        )}
        <NameFields draft={draft} violations={violations} onChange={change} isNew={!rule} />
        <PlatformChoice draft={draft} violations={violations} onChange={change} />
        {draft.chosen.map((platform) => (
          <QueryField
            key={platform}
            platform={platform}
            value={draft.queries[platform]}
            violations={violations}
            onChange={(value) =>
              setDraft((before) => ({ ...before, queries: { ...before.queries, [platform]: value } }))
            }
          />
        ))}
        <Suspense>
          <ExamplesField
            draft={draft}
            violations={violations}
            onChange={(examples) => change({ examples })}
          />
          <JudgeFields draft={draft} violations={violations} onChange={change} />
          <AlertsField draft={draft} violations={violations} onChange={change} />
        </Suspense>
        <LimitsFields draft={draft} violations={violations} onChange={change} />
        <div className={styles.answers}>
          <Button onClick={() => preview.mutate(draft)} isBusy={preview.isPending}>
            Preview
          </Button>
          <Button
            kind="primary"
            onClick={() => (missing.length === 0 ? setPlanning(true) : setChecked(true))}
          >
            Save …
          </Button>
        </div>
      </form>
      <PreviewPanel
        previews={preview.data?.platforms}
        error={violationsOf(preview.error).length > 0 ? null : preview.error}
        isPending={preview.isPending}
        isStale={JSON.stringify(preview.variables?.queries) !== JSON.stringify(draft.queries)}
      />
      {isPlanning && (
        <Suspense>
          <PlanDialog
            draft={draft}
            rule={rule}
            error={save.error}
            isPending={save.isPending}
            onApply={(accepted) => save.mutate(accepted)}
            onClose={() => setPlanning(false)}
          />
        </Suspense>
      )}
    </div>
  );
}

function usePreview(rule: Rule | undefined) {
  const api = useApi();
  return useMutation({
    mutationFn: (draft: Draft) =>
      api.previewRule({
        platforms: [...draft.chosen],
        overrides: overridesOf(draft),
        ...(rule && { rule_id: rule.id }),
      }),
  });
}

/** Saves the rule. Then shows a new rule in the feed, where its first match appears, and a changed one in the list. */
function useSave(
  draft: Draft,
  rule: Rule | undefined,
  { onSaved, onInvalidField }: { onSaved: () => void; onInvalidField: () => void },
) {
  const api = useApi();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: async (accepted: AcceptOptions) => {
      if (rule) return (await api.updateRule({ ...updateOf(rule, draft), ...accepted })).id;
      return (await api.createRule({ ...creationOf(draft), ...accepted })).rule_id;
    },
    onSuccess: async (id) => {
      onSaved();
      await queryClient.invalidateQueries({ queryKey: rulesKey });
      navigate(rule ? '/rules' : `/feed?rule=${id}`);
    },
    onError: (error) => {
      // The form shows violations at their fields.
      if (violationsOf(error).length > 0) onInvalidField();
    },
  });
}

function violationsOf(error: Error | null): readonly Violation[] {
  return error instanceof EarshotError ? (error.details.violations ?? []) : [];
}

interface FieldsProps {
  readonly draft: Draft;
  readonly violations: readonly Violation[];
  readonly onChange: (changes: Partial<Draft>) => void;
}

function NameFields({ draft, violations, onChange, isNew }: FieldsProps & { isNew: boolean }) {
  const id = useId();
  const name = useRef<HTMLInputElement>(null);
  // A new rule starts with its name. For an existing rule, the focus stays, so that screen readers start at the top.
  useEffect(() => {
    if (isNew) name.current?.focus();
  }, [isNew]);
  return (
    <>
      <div className={styles.field}>
        <label htmlFor={id} className={styles.label}>
          Name
        </label>
        <input
          ref={name}
          id={id}
          value={draft.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <FieldProblems violations={violations} field="name" />
      </div>
      <div className={styles.field}>
        <label htmlFor={`${id}-intent`} className={styles.label}>
          Intent
        </label>
        <textarea
          id={`${id}-intent`}
          rows={2}
          value={draft.intent}
          placeholder="The purpose of the rule in one or two sentences"
          onChange={({ target }) => onChange({ intent: target.value })}
        />
        <FieldProblems violations={violations} field="intent" />
      </div>
    </>
  );
}

function PlatformChoice({ draft, violations, onChange }: FieldsProps) {
  return (
    <fieldset className={styles.field}>
      <legend className={styles.label}>Platforms</legend>
      <div className={styles.inline}>
        {platforms.map((platform) => (
          <label key={platform} className={styles.check}>
            <input
              type="checkbox"
              checked={draft.chosen.includes(platform)}
              onChange={({ target }) =>
                onChange({
                  chosen: platforms.filter((one) =>
                    one === platform ? target.checked : draft.chosen.includes(one),
                  ),
                })
              }
            />
            {platformNames[platform]}
          </label>
        ))}
      </div>
      <FieldProblems violations={violations} field="platforms" />
    </fieldset>
  );
}
