import { type ReactNode, useId } from 'react';
import styles from './field.module.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The error message of the API. */
  readonly problem?: string | undefined;
  /** Renders the control. Its attributes link it to the label, the hint and the problem. */
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string;
    readonly 'aria-invalid': boolean;
  }) => ReactNode;
}

/** A control with its label, hint and error message. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const aboutId = `${id}about`;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': aboutId, 'aria-invalid': problem !== undefined })}
      <About id={aboutId} hint={hint} problem={problem} />
    </div>
  );
}

/** Several controls with one label. */
export function FieldGroup({
  label,
  hint,
  problem,
  children,
}: Omit<FieldProps, 'children'> & { readonly children: ReactNode }) {
  const aboutId = useId();
  return (
    <fieldset className={styles.field} aria-describedby={aboutId}>
      <legend>{label}</legend>
      <div className={styles.controls}>{children}</div>
      <About id={aboutId} hint={hint} problem={problem} />
    </fieldset>
  );
}

function About({ id, hint, problem }: { id: string; hint: ReactNode; problem: string | undefined }) {
  return (
    <div id={id} className={styles.about}>
      {hint !== undefined && <p>{hint}</p>}
      {problem !== undefined && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

export function Check({
  label,
  checked,
  onChange,
}: {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      <span>{label}</span>
    </label>
  );
}
