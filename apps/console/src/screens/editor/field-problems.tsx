import type { ErrorDetails } from '@earshot/sdk';
import styles from './editor.module.css';

export type Violation = NonNullable<ErrorDetails['violations']>[number];

/** The violations that the server reports for a field and its nested fields. */
export function FieldProblems({ violations, field }: { violations: readonly Violation[]; field: string }) {
  const own = violations.filter(
    (violation) =>
      violation.field === field ||
      violation.field.startsWith(`${field}.`) ||
      violation.field.startsWith(`${field}[`),
  );
  if (own.length === 0) return null;
  return (
    <ul className={styles.problems} role="alert">
      {own.map(({ message, field: where }) => (
        <li key={`${where} ${message}`}>{message}</li>
      ))}
    </ul>
  );
}
