import { useId } from 'react';
import type { Draft } from './draft.ts';
import styles from './editor.module.css';
import { FieldProblems, type Violation } from './field-problems.tsx';

interface AlertsFieldProps {
  readonly draft: Pick<Draft, 'alerts'>;
  readonly violations: readonly Violation[];
  readonly onChange: (changes: Pick<Draft, 'alerts'>) => void;
}

const options: Readonly<Record<Draft['alerts'], { readonly words: string; readonly expect: string }>> = {
  off: { words: 'off', expect: 'You get no notice when the rule suddenly rises or falls silent.' },
  low: { words: 'low: only large changes', expect: 'Expect at most two false alarms a year.' },
  medium: { words: 'medium', expect: 'Expect at most one false alarm in two weeks.' },
  high: { words: 'high: also small changes', expect: 'Expect at most two false alarms a week.' },
};
const names = ['off', 'low', 'medium', 'high'] as const;

/** Whether spikes and drops of the rule are reported. */
export function AlertsField({ draft: { alerts }, violations, onChange }: AlertsFieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        Alerts on spikes and drops
      </label>
      <select
        id={id}
        aria-describedby={`${id}-expect`}
        value={alerts}
        onChange={({ target }) => onChange({ alerts: names.find((name) => name === target.value) ?? alerts })}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {options[name].words}
          </option>
        ))}
      </select>
      <p id={`${id}-expect`} className={styles.quiet}>
        {options[alerts].expect}
        {alerts !== 'off' && ' Earshot first learns for a day what is usual.'}
      </p>
      <FieldProblems violations={violations} field="alerts" />
    </div>
  );
}
