import { useId } from 'react';
import styles from './choice.module.css';

/** Radio buttons that look like a row of tabs. */
export function Choice<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: Readonly<Record<Value, string>>;
  value: Value;
  onChange: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset className={styles.choice}>
      <legend className={styles.legend}>{label}</legend>
      {Object.entries<string>(options).map(([option, words]) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            checked={option === value}
            onChange={() => onChange(option as Value)}
          />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}
