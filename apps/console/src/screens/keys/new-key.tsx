import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api.tsx';
import { keysKey } from '../../api/keys.ts';
import { useSession } from '../../api/session.ts';
import { otherError, violationOf } from '../../api/violations.ts';
import { Check, Field, FieldGroup } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Modal } from '../../parts/modal.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { type KeyDraft, requestOf, scopesOf } from './key-draft.ts';

const fields = ['name', 'scopes', 'expires_at', 'budget'];

/** Creates a key with at most the scopes of the session, then shows it. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const offered = scopesOf(useSession().data?.scopes ?? []);
  const [draft, setDraft] = useState<KeyDraft>({
    name: '',
    scopes: offered,
    expires: '',
    amount: '',
    unit: 'usd',
    period: 'day',
    on_reached: 'pause',
  });
  const create = useCreate(draft);
  const change = (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part });
  if (create.data?.key)
    return (
      <Modal title="Key created" onClose={onClose}>
        <ShownOnce what="key" value={create.data.key} />
      </Modal>
    );
  return (
    <Modal title="New key" onClose={onClose}>
      <Form
        submit="Create"
        error={otherError(create.error, fields)}
        isPending={create.isPending}
        onSubmit={() => create.mutate()}
      >
        <Field label="Name" hint="Who or what uses the key." problem={violationOf(create.error, 'name')}>
          {(control) => (
            <input
              {...control}
              autoComplete="off"
              value={draft.name}
              onChange={({ target }) => change({ name: target.value })}
            />
          )}
        </Field>
        <ScopeFields
          draft={draft}
          offered={offered}
          onChange={change}
          problem={violationOf(create.error, 'scopes')}
        />
        <Field
          label="Expires (your time zone)"
          hint="If empty, the new key expires with the key that you are signed in with."
          problem={violationOf(create.error, 'expires_at')}
        >
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              value={draft.expires}
              onChange={({ target }) => change({ expires: target.value })}
            />
          )}
        </Field>
        <BudgetFields draft={draft} onChange={change} problem={violationOf(create.error, 'budget')} />
      </Form>
    </Modal>
  );
}

function useCreate(draft: KeyDraft) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => api.createKey(requestOf(draft)),
    onSuccess: () => queries.invalidateQueries({ queryKey: keysKey }),
  });
}

function ScopeFields({
  draft,
  offered,
  problem,
  onChange,
}: {
  draft: KeyDraft;
  offered: KeyDraft['scopes'];
  problem: string | undefined;
  onChange: (part: Partial<KeyDraft>) => void;
}) {
  return (
    <FieldGroup
      label="Scopes"
      hint="A new key can have at most the scopes of the key that you are signed in with."
      problem={problem}
    >
      {offered.map((scope) => (
        <Check
          key={scope}
          label={<code>{scope}</code>}
          checked={draft.scopes.includes(scope)}
          onChange={(isOn) =>
            onChange({
              scopes: offered.filter((one) => (one === scope ? isOn : draft.scopes.includes(one))),
            })
          }
        />
      ))}
    </FieldGroup>
  );
}

function BudgetFields({
  draft,
  problem,
  onChange,
}: {
  draft: KeyDraft;
  problem: string | undefined;
  onChange: (part: Partial<KeyDraft>) => void;
}) {
  return (
    <FieldGroup
      label="Budget"
      hint="Limits the total cost of the rules that the key creates. If empty, the budget of the key that you are signed in with applies."
      problem={problem}
    >
      <input
        aria-label="Amount"
        inputMode="decimal"
        size={8}
        autoComplete="off"
        value={draft.amount}
        onChange={({ target }) => onChange({ amount: target.value })}
      />
      <select
        aria-label="Unit"
        value={draft.unit}
        onChange={({ target }) => onChange({ unit: target.value === 'usd' ? 'usd' : 'matches' })}
      >
        <option value="usd">dollars</option>
        <option value="matches">matches</option>
      </select>
      <select
        aria-label="Period"
        value={draft.period}
        onChange={({ target }) => onChange({ period: periods.find((one) => one === target.value) ?? 'day' })}
      >
        <option value="day">per day</option>
        <option value="month">per month</option>
        <option value="lifetime">in total</option>
      </select>
      <select
        aria-label="When it is spent"
        value={draft.on_reached}
        onChange={({ target }) => onChange({ on_reached: target.value === 'notify' ? 'notify' : 'pause' })}
      >
        <option value="pause">then pause its rules</option>
        <option value="notify">then only notify</option>
      </select>
    </FieldGroup>
  );
}

const periods = ['day', 'month', 'lifetime'] as const;
