import { useId } from 'react';
import type { BudgetDraft, Draft } from './draft.ts';
import styles from './editor.module.css';
import { FieldProblems, type Violation } from './field-problems.tsx';

interface LimitsFieldsProps {
  readonly draft: Draft;
  readonly violations: readonly Violation[];
  readonly onChange: (changes: Partial<Draft>) => void;
}

/** The budget and the expiry of the rule. */
export function LimitsFields({ draft, violations, onChange }: LimitsFieldsProps) {
  const id = useId();
  const { budget, expires } = draft;
  const set = (changes: Partial<BudgetDraft>) => onChange({ budget: { ...budget, ...changes } });
  return (
    <div className={styles.limits}>
      <fieldset className={styles.field}>
        <legend className={styles.label}>Budget</legend>
        <div className={styles.inline}>
          <input
            aria-label="Amount of the budget"
            inputMode="decimal"
            placeholder="none"
            value={budget.amount}
            onChange={({ target }) => set({ amount: target.value })}
          />
          <Choice
            label="Unit"
            value={budget.unit}
            options={{ usd: '$', matches: 'matches' }}
            onChange={(unit) => set({ unit })}
          />
          <Choice
            label="Period"
            value={budget.period}
            options={{ day: 'per day', month: 'per month', lifetime: 'in total' }}
            onChange={(period) => set({ period })}
          />
          <Choice
            label="When it is spent"
            value={budget.reaction}
            options={{ pause: 'then pause the rule', notify: 'then only notify' }}
            onChange={(reaction) => set({ reaction })}
          />
        </div>
        <FieldProblems violations={violations} field="budget" />
      </fieldset>
      <div className={styles.field}>
        <label htmlFor={id} className={styles.label}>
          Expires
        </label>
        <input
          id={id}
          type="datetime-local"
          value={expires}
          onChange={({ target }) => onChange({ expires: target.value })}
        />
        <FieldProblems violations={violations} field="expires_at" />
      </div>
    </div>
  );
}

function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
}) {
  // `Object.entries` widens the keys to `string`.
  const entries = Object.entries(options) as [Value, string][];
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(entries.find(([name]) => name === target.value)?.[0] ?? value)}
    >
      {entries.map(([name, words]) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  );
}
