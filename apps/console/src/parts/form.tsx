import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import styles from './form.module.css';

/** The fields of a dialog, what went wrong at none of them, and the one thing that it does. */
export function Form({
  submit,
  kind = 'primary',
  error,
  isPending,
  onSubmit,
  children,
}: {
  submit: string;
  /** `danger` for what cannot be undone. */
  kind?: 'primary' | 'danger';
  error: Error | null;
  isPending: boolean;
  onSubmit: () => void;
  children: ReactNode;
}) {
  return (
    <form
      className={styles.form}
      // The API says what is wrong with a field, in more words than a browser has.
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error && <ErrorNote error={error} />}
      <p className={styles.submit}>
        <Button type="submit" kind={kind} disabled={isPending}>
          {isPending ? `${submit} …` : submit}
        </Button>
      </p>
    </form>
  );
}
