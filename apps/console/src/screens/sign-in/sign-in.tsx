import { type FormEvent, useEffect, useId, useState } from 'react';
import { type Session, useSignIn } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import type { Link } from './link.ts';
import styles from './sign-in.module.css';

/** `session`: of somebody who is signed in already, and came by a link. */
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
          The key is exchanged for a session and not kept by this page. <code>earshot console</code> prints a
          link that signs you in without typing it.
        </p>
      </form>
    </main>
  );
}
