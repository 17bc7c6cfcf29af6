import { useEffect, useState } from 'react';
import { type Session, useSignOut } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Check, Field, FieldGroup } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import styles from './authorize.module.css';
import { type AuthorizationRequest, useAuthorizationRequest, useDecision } from './use-authorization.ts';

const scopeWords: Readonly<Record<string, string>> = {
  'rules:read': 'See rules, sources and what they cost',
  'rules:write': 'Create, change, pause and delete rules',
  'matches:read': 'Read matches, coverage and notices',
  'readers:write': 'Delete readers and move them back',
  'webhooks:read': 'See webhooks and their deliveries',
  'webhooks:write': 'Create, change and delete webhooks',
  'keys:write': 'Create and revoke API keys',
  'audit:read': 'Read the audit log',
};

/** Asks whether a program may use the account, and how far. Reached from the program, not from the navigation. */
export function Authorize({ id, session }: { id: string; session: Session }) {
  const { data, error, refetch } = useAuthorizationRequest(id);
  useEffect(() => {
    document.title = 'Connect · Earshot';
  }, []);
  return (
    <main className={styles.page}>
      <div className={styles.form}>
        {error && (
          <>
            <h1>Earshot</h1>
            <ErrorNote error={error} onRetry={() => void refetch()} />
            <p className={styles.hint}>If this goes on, start again in the program that sent you here.</p>
          </>
        )}
        {!data && !error && <Loading what="Reading the request" />}
        {data && !error && <Question id={id} asked={data} session={session} />}
      </div>
    </main>
  );
}

function Question({ id, asked, session }: { id: string; asked: AuthorizationRequest; session: Session }) {
  const offered = asked.scopes.filter((scope) => session.scopes.includes(scope));
  const [scopes, setScopes] = useState(offered);
  const [budget, setBudget] = useState('');
  const decide = useDecision(id);
  const usd = budget.trim() === '' ? null : Number(budget.trim().replace(',', '.'));
  const isBudgetWrong = usd !== null && !(usd > 0);
  // The browser leaves: a second click must not decide again.
  const isBusy = decide.isPending || decide.isSuccess;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy || isBudgetWrong || scopes.length === 0) return;
        decide.mutate({ decision: 'allow', scopes, budget_usd_per_day: usd });
      }}
    >
      <Introduction asked={asked} />
      <ScopeFields offered={offered} chosen={scopes} onChange={setScopes} />
      <Field
        label="May spend at most, in dollars a day"
        hint="What all rules that it creates may spend together. They are paused when it is spent. Leave it empty for no limit of its own."
        problem={isBudgetWrong ? 'Write an amount above 0, such as 2.50, or leave it empty.' : undefined}
      >
        {(control) => (
          <input
            {...control}
            inputMode="decimal"
            size={8}
            autoComplete="off"
            value={budget}
            onChange={({ target }) => setBudget(target.value)}
          />
        )}
      </Field>
      {decide.error && <ErrorNote error={decide.error} />}
      <p className={styles.actions}>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Allow
        </Button>
        <Button isBusy={isBusy} onClick={() => decide.mutate({ decision: 'refuse' })}>
          Deny
        </Button>
        <OtherAccount />
      </p>
      <p className={styles.hint}>
        It is listed under Keys, where you can revoke it at any time. It stops working within five seconds.
      </p>
    </form>
  );
}

function Introduction({ asked: { client, account } }: { asked: AuthorizationRequest }) {
  return (
    <>
      <h1>
        Connect <StrangersText text={client.name} />
      </h1>
      <p>
        A program that calls itself “<StrangersText text={client.name} />” asks to use Earshot as{' '}
        <strong>{account.name}</strong>. If you allow it, your browser returns with the access to{' '}
        <strong>
          <code>{client.redirect_host}</code>
        </strong>
        . Programs choose their own names: allow this only if you have just started it there.
      </p>
    </>
  );
}

function ScopeFields({
  offered,
  chosen,
  onChange,
}: {
  offered: readonly string[];
  chosen: readonly string[];
  onChange: (scopes: string[]) => void;
}) {
  return (
    <FieldGroup
      label="It may"
      problem={
        chosen.length === 0
          ? 'Choose at least one, or deny the request. Only what your own key may do can be granted.'
          : undefined
      }
    >
      {offered.map((scope) => (
        <Check
          key={scope}
          label={scopeWords[scope] ?? <code>{scope}</code>}
          checked={chosen.includes(scope)}
          onChange={(isOn) =>
            onChange(offered.filter((one) => (one === scope ? isOn : chosen.includes(one))))
          }
        />
      ))}
    </FieldGroup>
  );
}

/** The sign-in is shown then, at the same address. */
function OtherAccount() {
  const signOut = useSignOut();
  return (
    <Button kind="plain" onClick={() => signOut.mutate()} disabled={signOut.isPending}>
      Use another account
    </Button>
  );
}
