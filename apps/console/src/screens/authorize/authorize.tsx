import { useEffect, useState } from 'react';
import { useKeys } from '../../api/keys.ts';
import { type Session, useSignOut } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Check, Field, FieldGroup } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './authorize.module.css';
import { type AuthorizationRequest, useAuthorizationRequest, useDecision } from './use-authorization.ts';
import { watchFocus } from './watch-focus.ts';

const scopeWords: Readonly<Record<string, string>> = {
  'rules:read': 'See rules, sources and costs',
  'rules:write': 'Create, change, pause and delete rules',
  'matches:read': 'Read matches, coverage and notices',
  'matches:label': 'Label matches as relevant or not, and mute authors and sites',
  'readers:write': 'Delete readers and move them back',
  'webhooks:read': 'See webhooks and their deliveries',
  'webhooks:write': 'Create, change and delete webhooks',
  'keys:write': 'Create and revoke API keys',
  'audit:read': 'Read the audit log',
};

/** The OAuth consent page: lets the user grant a program access to the account. The program sends the user here. */
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
            <p className={styles.hint}>
              If the error persists, start again in the program that sent you here.
            </p>
          </>
        )}
        {!data && !error && <Loading what="Loading the request" />}
        {data && !error && <ConsentForm id={id} request={data} session={session} />}
      </div>
    </main>
  );
}

function ConsentForm({
  id,
  request,
  session,
}: {
  id: string;
  request: AuthorizationRequest;
  session: Session;
}) {
  const offered = request.scopes.filter((scope) => session.scopes.includes(scope));
  const [scopes, setScopes] = useState(offered);
  const [typed, setBudget] = useState<string | null>(null);
  const limit = useKeyBudget(session);
  const budget = typed ?? (limit === 'none' && offered.includes('rules:write') ? suggestedUsd : '');
  const decide = useDecision(id);
  const usd = budget.trim() === '' ? null : Number(budget.trim().replace(',', '.'));
  const isBudgetWrong = usd !== null && !(usd > 0);
  // Stays busy after the decision: until the browser leaves, a second click must not decide again.
  const isBusy = decide.isPending || decide.isSuccess;
  const isAllowOff = !useSettledFocus() || isBusy;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isAllowOff || isBudgetWrong || scopes.length === 0) return;
        decide.mutate({ decision: 'allow', scopes, budget_usd_per_day: usd });
      }}
    >
      <Introduction request={request} />
      <ScopeFields offered={offered} chosen={scopes} onChange={setScopes} />
      {limit === 'limited' ? (
        <p>The budget of the key that you are signed in with also limits the rules of the program.</p>
      ) : (
        <Field
          label="Daily budget in dollars"
          hint="Limits the total cost of the rules that the program creates. When the budget is spent, these rules are paused. Leave it empty for no limit."
          problem={isBudgetWrong ? 'Enter an amount above 0, such as 2.50, or leave it empty.' : undefined}
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
      )}
      {decide.error && <ErrorNote error={decide.error} />}
      <p className={styles.actions}>
        <Button kind="primary" type="submit" isBusy={isAllowOff}>
          Allow
        </Button>
        <Button isBusy={isBusy} onClick={() => decide.mutate({ decision: 'refuse' })}>
          Deny
        </Button>
        <SwitchAccount />
      </p>
      <p className={styles.hint}>
        The program is listed under Keys. You can revoke its access there at any time; it ends within 5
        seconds.
      </p>
    </form>
  );
}

/** A day, in dollars: enough to try a rule, and a small loss if the program is careless. */
const suggestedUsd = '5';

/** Whether the key of the session has a budget: it then limits its programs, and they cannot have another one. */
function useKeyBudget({ key_id: ownId }: Session): 'unknown' | 'none' | 'limited' {
  const { data } = useKeys();
  if (!data) return 'unknown';
  return data.keys.some(({ id, budget }) => id === ownId && budget !== null) ? 'limited' : 'none';
}

function Introduction({ request: { client, account } }: { request: AuthorizationRequest }) {
  return (
    <>
      <h1>
        Connect <UntrustedText text={client.name} /> to Earshot
      </h1>
      <p>
        A program with the name “<UntrustedText text={client.name} />” wants to use Earshot as{' '}
        <strong>{account.name}</strong>. If you allow it, your browser sends the access to{' '}
        <strong>
          <code>{client.redirect_host}</code>
        </strong>
        . Programs choose their own names. Allow this only if you have just started the connection there.
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
      label="Permissions"
      problem={
        chosen.length === 0
          ? 'No permission is selected. Choose at least one, or deny the request.'
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

/** Signs out, which shows the sign-in form at the same address. */
function SwitchAccount() {
  const signOut = useSignOut();
  return (
    <Button kind="plain" onClick={() => signOut.mutate()} disabled={signOut.isPending}>
      Use another account
    </Button>
  );
}

/**
 * Whether a click or key is meant for this page. Another page can open this one below the pointer, or close the window that covers it,
 * between the two clicks of a double click.
 */
function useSettledFocus(): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => watchFocus(window, () => document.hasFocus(), setSettled), []);
  return isSettled;
}
