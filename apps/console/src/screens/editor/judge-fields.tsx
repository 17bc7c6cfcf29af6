import { Button } from '../../parts/button.tsx';
import type { Draft } from './draft.ts';
import styles from './editor.module.css';
import { FieldProblems, type Violation } from './field-problems.tsx';

const criteriaMax = 5;

interface JudgeFieldsProps {
  readonly draft: Draft;
  readonly violations: readonly Violation[];
  readonly onChange: (changes: Partial<Draft>) => void;
}

/** Whether the judge checks the matches. The console cannot know whether the operator set one up: the API refuses it. */
export function JudgeFields({ draft: { judge, criteria }, violations, onChange }: JudgeFieldsProps) {
  return (
    <fieldset className={styles.field}>
      <legend className={styles.label}>Judge</legend>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={judge}
          onChange={({ target }) => onChange({ judge: target.checked })}
        />
        Check whether each new match is relevant
      </label>
      {judge && (
        <div className={styles.examples}>
          <p className={styles.quiet}>
            A model that the operator set up compares each match with the intent. You can name up to{' '}
            {criteriaMax} more criteria.
          </p>
          {criteria.map((criterion, index) => (
            // Criteria have no id, so their position is the key.
            <div key={index.toString()} className={styles.criterion}>
              <input
                aria-label={`Criterion ${index + 1}`}
                value={criterion}
                placeholder="What a relevant match fulfils, in one sentence"
                onChange={({ target }) => onChange({ criteria: criteria.with(index, target.value) })}
              />
              <Button
                kind="plain"
                aria-label={`Remove criterion ${index + 1}`}
                onClick={() => onChange({ criteria: criteria.toSpliced(index, 1) })}
              >
                ×
              </Button>
            </div>
          ))}
          {criteria.length < criteriaMax && (
            <Button onClick={() => onChange({ criteria: [...criteria, ''] })}>Add a criterion</Button>
          )}
        </div>
      )}
      <FieldProblems violations={violations} field="relevance" />
    </fieldset>
  );
}
