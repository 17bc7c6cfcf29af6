import { type FormEvent, useEffect, useId, useState } from 'react';
import { type Session, useSignIn } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import type { Link } from './link.ts';
import styles from './sign-in.module.css';

/** `session` is set if the user is already signed in and opened a sign-in link. */
export function SignIn({ session, link }: { session: Session | null; link: Link }) {
  const { code, forget } = link;
  const { mutate, error, isPending } = useSignIn(forget);
  const [key, setKey] = useState('');
  const fieldId = useId();
  useEffect(() => {
    document.title = 'Sign in · Earshot';
  }, []);
  useEffect(() => {
    if (code !== null) mutate({ code });
  }, [code, mutate]);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ key: key.trim() });
  };
  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={onSubmit}>
        <h1>Earshot</h1>
        <label htmlFor={fieldId}>API key</label>
        <input
          id={fieldId}
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="esk_…"
          required
          value={key}
          aria-invalid={error !== null}
          aria-describedby={`${fieldId}-problem`}
          onChange={({ target }) => setKey(target.value)}
        />
        <p id={`${fieldId}-problem`} className={styles.problem} role="alert">
          {error?.message}
        </p>
        <Button kind="primary" type="submit" disabled={isPending}>
          {isPending ? 'Signing in …' : 'Sign in'}
        </Button>
        {session && !isPending && <Button onClick={forget}>Stay signed in as {session.account_name}</Button>}
        <p className={styles.hint}>
          The page exchanges the key for a session and does not store it. To sign in without typing a key, run{' '}
          <code>earshot console</code> and open the link.
        </p>
      </form>
    </main>
  );
}
