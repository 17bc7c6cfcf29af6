import type { Answers } from '@earshot/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { useRules } from '../../api/rules.ts';
import { otherError, violationOf } from '../../api/violations.ts';
import { Check, Field, FieldGroup } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Modal } from '../../parts/modal.tsx';
import { platformNames, platforms } from '../../parts/platforms.ts';
import { ShownOnce } from '../../parts/shown-once.tsx';
import type { Webhook } from './deliveries.ts';
import { formatNames, isChat } from './webhook-words.ts';
import styles from './webhooks.module.css';

const fields = ['name', 'url', 'format', 'rule_ids', 'platform', 'events'];
const formats = formatNames;
type Format = keyof typeof formats;
type Event = Webhook['events'][number];

interface Draft {
  readonly name: string;
  readonly url: string;
  readonly format: string;
  readonly platform: string;
}

/** Returns the properties of a field's control. */
type Change = (field: keyof Draft) => {
  readonly value: string;
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
};

const emptyDraft: Draft = { name: '', url: '', format: 'standard', platform: '' };

/** Creates a webhook, then shows its secret, which a chat does not have. */
export function NewWebhook({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [events, setEvents] = useState<readonly Event[]>(['matches']);
  const [ruleIds, setRuleIds] = useState<readonly string[]>([]);
  const create = useCreate({ ...draft, events, ruleIds });
  const change: Change = (field) => ({
    value: draft[field],
    onChange: ({ target }) => setDraft({ ...draft, [field]: target.value }),
  });
  if (create.data)
    return (
      <Modal title="Webhook created" onClose={onClose}>
        <Created webhook={create.data} />
      </Modal>
    );
  const toggle = (event: Event) => (isOn: boolean) =>
    setEvents(isOn ? [...events, event] : events.filter((one) => one !== event));
  return (
    <Modal title="New webhook" onClose={onClose}>
      <Form
        submit="Create"
        error={otherError(create.error, fields)}
        isPending={create.isPending}
        onSubmit={() => create.mutate()}
      >
        <Field label="Name" problem={violationOf(create.error, 'name')}>
          {(control) => <input {...control} {...change('name')} autoComplete="off" />}
        </Field>
        <Field
          label="URL"
          hint="HTTPS, on the public internet, port 443 or 8443."
          problem={violationOf(create.error, 'url')}
        >
          {(control) => <input {...control} {...change('url')} type="url" autoComplete="off" />}
        </Field>
        <Field label="Format" problem={violationOf(create.error, 'format')}>
          {(control) => (
            <select {...control} {...change('format')}>
              {Object.entries(formats).map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <FieldGroup label="Events" problem={violationOf(create.error, 'events')}>
          <Check label="Matches" checked={events.includes('matches')} onChange={toggle('matches')} />
          <Check label="Notices" checked={events.includes('notices')} onChange={toggle('notices')} />
        </FieldGroup>
        <RuleChecks chosen={ruleIds} onChange={setRuleIds} problem={violationOf(create.error, 'rule_ids')} />
        <Field label="Platform" problem={violationOf(create.error, 'platform')}>
          {(control) => (
            <select {...control} {...change('platform')}>
              <option value="">All platforms</option>
              {platforms.map((id) => (
                <option key={id} value={id}>
                  {platformNames[id]}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Modal>
  );
}

function Created({ webhook }: { webhook: Answers['CreateWebhook'] }) {
  const { id, secret } = webhook;
  return (
    <>
      {secret !== null && <ShownOnce what="signing secret" value={secret} />}
      {secret === null && !isChat(webhook) && (
        <p>The secret was shown before. If you do not have it, rotate it on the page of the webhook.</p>
      )}
      <p>
        To check that messages arrive, <Link href={`/webhooks/${id}`}>open the webhook</Link> and send a test.
      </p>
    </>
  );
}

export function RuleChecks({
  chosen,
  onChange,
  problem,
}: {
  chosen: readonly string[];
  onChange: (ruleIds: readonly string[]) => void;
  problem: string | undefined;
}) {
  const rules = useRules().data ?? [];
  return (
    <FieldGroup label="Rules" hint="Select none for all rules." problem={problem}>
      <div className={styles.rules}>
        {rules.map(({ id, name }) => (
          <Check
            key={id}
            label={name}
            checked={chosen.includes(id)}
            onChange={(isOn) => onChange(isOn ? [...chosen, id] : chosen.filter((one) => one !== id))}
          />
        ))}
      </div>
    </FieldGroup>
  );
}

function useCreate({
  platform: chosen,
  format,
  ruleIds,
  events,
  ...rest
}: Draft & { events: readonly Event[]; ruleIds: readonly string[] }) {
  const api = useApi();
  const queries = useQueryClient();
  const platform = platforms.find((one) => one === chosen);
  return useMutation({
    mutationFn: () =>
      api.createWebhook({
        ...rest,
        ...(isFormat(format) && { format }),
        events: [...events],
        ...(ruleIds.length > 0 && { rule_ids: [...ruleIds] }),
        ...(platform !== undefined && { platform }),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['listWebhooks'] }),
  });
}

function isFormat(text: string): text is Format {
  return text in formats;
}
