import { type FormEvent, useEffect, useId, useState } from 'react';
import { type Session, useLinkAccount, useSignIn } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import type { Link } from './link.ts';
import styles from './sign-in.module.css';

/** `session` is set if the user is already signed in and opened a sign-in link. */
export function SignIn({
  session,
  link,
  isForProgram = false,
}: {
  session: Session | null;
  link: Link;
  /** The user comes from a program that wants access. */
  isForProgram?: boolean;
}) {
  const { code, forget } = link;
  const { mutate, error: refusal, isPending } = useSignIn(forget);
  const linked = useLinkAccount(code);
  const error = refusal ?? linked.error;
  const [key, setKey] = useState('');
  const fieldId = useId();
  useEffect(() => {
    document.title = 'Sign in · Earshot';
  }, []);
  const account = linked.data;
  if (code !== null && account !== undefined && refusal === null)
    return (
      <LinkQuestion
        account={account}
        isPending={isPending}
        onSignIn={() => mutate({ code })}
        onRefuse={forget}
      />
    );
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ key: key.trim() });
  };
  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={onSubmit}>
        <h1>{isForProgram ? 'Connect a program to Earshot' : 'Earshot'}</h1>
        {isForProgram && (
          <p>
            A program asks for access to your account. Sign in with a key that has the scope{' '}
            <code>keys:write</code>: the next page shows which program it is, and you choose what it may do.
            The program does not get this key.
          </p>
        )}
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

/** Another person may have sent the link, so that the user works in that person's account. */
function LinkQuestion({
  account,
  isPending,
  onSignIn,
  onRefuse,
}: {
  account: string;
  isPending: boolean;
  onSignIn: () => void;
  onRefuse: () => void;
}) {
  return (
    <main className={styles.page}>
      <div className={styles.form}>
        <h1>Sign in as {account}?</h1>
        <p>A link opened this page. Sign in only if this is your account.</p>
        <Button kind="primary" disabled={isPending} onClick={onSignIn}>
          {isPending ? 'Signing in …' : 'Sign in'}
        </Button>
        <Button onClick={onRefuse}>Cancel</Button>
      </div>
    </main>
  );
}
