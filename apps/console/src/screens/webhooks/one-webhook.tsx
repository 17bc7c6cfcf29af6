import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Screen } from '../../parts/screen.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import type { Webhook } from './deliveries.ts';
import { Deliveries } from './deliveries-list.tsx';
import { useSetState, useTest } from './webhook-changes.ts';
import { DeleteWebhook, ReplayWebhook, RotateSecret, TestResult } from './webhook-dialogs.tsx';
import { WebhookEvents } from './webhook-events.tsx';
import { formatWords, isChat, statusOfWebhook } from './webhook-words.ts';
import styles from './webhooks.module.css';

type Dialog = 'replay' | 'rotate' | 'delete' | 'test';

export function OneWebhook({ webhook }: { webhook: Webhook }) {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const setState = useSetState(webhook.id);
  const test = useTest(webhook.id);
  const close = () => setDialog(null);
  const isActive = webhook.state === 'active';
  return (
    <Screen
      title={webhook.name}
      actions={
        <>
          <Button
            onClick={() => {
              test.mutate();
              setDialog('test');
            }}
          >
            Test
          </Button>
          {webhook.next_attempt_at !== null && (
            <Button disabled={setState.isPending} onClick={() => setState.mutate('active')}>
              Retry now
            </Button>
          )}
          <Button onClick={() => setDialog('replay')}>Replay from …</Button>
          {!isChat(webhook) && <Button onClick={() => setDialog('rotate')}>Rotate secret …</Button>}
          <Button
            disabled={setState.isPending}
            onClick={() => setState.mutate(isActive ? 'paused' : 'active')}
          >
            {isActive ? 'Pause' : 'Enable'}
          </Button>
          <Button kind="danger" onClick={() => setDialog('delete')}>
            Delete …
          </Button>
        </>
      }
    >
      <p>
        <Link href="/webhooks">All webhooks</Link>
      </p>
      {setState.error && <ErrorNote error={setState.error} />}
      <Facts webhook={webhook} />
      <Deliveries webhook={webhook} />
      {dialog === 'test' && <TestResult test={test} onClose={close} />}
      {dialog === 'replay' && <ReplayWebhook webhookId={webhook.id} onClose={close} />}
      {dialog === 'rotate' && <RotateSecret webhookId={webhook.id} onClose={close} />}
      {dialog === 'delete' && <DeleteWebhook webhook={webhook} onClose={close} />}
    </Screen>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { kind, words, whatToDo } = statusOfWebhook(webhook);
  const { failing_since, next_attempt_at, created_at, url, id } = webhook;
  return (
    <dl className={styles.facts}>
      <dt>State</dt>
      <dd>
        <StatusMark kind={kind}>{words}</StatusMark>
        {failing_since !== null && (
          <>
            {' '}
            since <Time at={failing_since} />
          </>
        )}
        {next_attempt_at !== null && (
          <>
            ; next attempt <Time at={next_attempt_at} />
          </>
        )}
        {whatToDo !== null && <p>{whatToDo}</p>}
      </dd>
      <dt>Format</dt>
      <dd>{formatWords(webhook)}</dd>
      <dt>Events</dt>
      <dd>
        <WebhookEvents webhook={webhook} />
      </dd>
      <dt>URL</dt>
      <dd>
        <UntrustedText text={url} />
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={created_at} /> <code className={styles.quiet}>{id}</code>
      </dd>
    </dl>
  );
}
