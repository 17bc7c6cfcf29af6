import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';
import styles from './form.module.css';

/** The fields of a dialog, the error that belongs to none of them, and the submit button. */
export function Form({
  submit,
  kind = 'primary',
  error,
  isPending,
  onSubmit,
  children,
}: {
  submit: string;
  /** `danger` is for actions that cannot be undone. */
  kind?: 'primary' | 'danger';
  error: Error | null;
  isPending: boolean;
  onSubmit: () => void;
  children: ReactNode;
}) {
  return (
    <form
      className={styles.form}
      // The messages of the API are more helpful than those of the browser.
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
