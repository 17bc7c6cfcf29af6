import { useState } from 'react';
import { useLocation } from 'wouter';
import { otherError, violationOf } from '../../api/violations.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Modal } from '../../parts/modal.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Time } from '../../parts/time.tsx';
import { AttemptFacts } from './attempt-facts.tsx';
import type { Webhook } from './deliveries.ts';
import { useDelete, useReplay, useRotate, type useTest } from './webhook-changes.ts';

export function TestResult({ test, onClose }: { test: ReturnType<typeof useTest>; onClose: () => void }) {
  return (
    <Modal title="Test message" onClose={onClose}>
      {test.isPending && <Loading what="Sending a test message" />}
      {test.error && <ErrorNote error={test.error} onRetry={() => test.mutate()} />}
      {test.data && <AttemptFacts attempt={test.data} isTest />}
    </Modal>
  );
}

const hourMs = 3_600_000;

export function ReplayWebhook({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const [from, setFrom] = useState(() => toLocalInput(new Date(Date.now() - hourMs)));
  const replay = useReplay(webhookId);
  const time = new Date(from);
  const isTime = !Number.isNaN(time.getTime());
  return (
    <Modal title="Replay" onClose={onClose}>
      {replay.data ? (
        <ReplayOutcome firstMatch={replay.data.from_match_id} />
      ) : (
        <Form
          submit="Send again"
          error={otherError(replay.error, ['from'])}
          isPending={replay.isPending}
          onSubmit={() => isTime && replay.mutate({ from: time.toISOString() })}
        >
          <p>
            Earshot sends all matches from this time on again, as new messages. This includes parked matches
            and matches that the endpoint already has.
          </p>
          <Field
            label="From (your time zone)"
            problem={
              isTime ? violationOf(replay.error, 'from') : 'The time is incomplete. Choose a date and a time.'
            }
          >
            {(control) => (
              <input
                {...control}
                type="datetime-local"
                value={from}
                onChange={({ target }) => setFrom(target.value)}
              />
            )}
          </Field>
        </Form>
      )}
    </Modal>
  );
}

/** Formats a time for a `datetime-local` field. */
function toLocalInput(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function ReplayFrom({
  webhookId,
  matchId,
  onClose,
}: {
  webhookId: string;
  matchId: string;
  onClose: () => void;
}) {
  const replay = useReplay(webhookId);
  return (
    <Modal title="Send again from here" onClose={onClose}>
      {replay.data ? (
        <ReplayOutcome firstMatch={replay.data.from_match_id} />
      ) : (
        <Form
          submit="Send again"
          error={replay.error}
          isPending={replay.isPending}
          onSubmit={() => replay.mutate({ from_match_id: matchId })}
        >
          <p>
            Earshot sends the match <code>{matchId}</code> and all later matches again, as new messages. This
            includes parked matches.
          </p>
        </Form>
      )}
    </Modal>
  );
}

function ReplayOutcome({ firstMatch }: { firstMatch: string | null }) {
  return (
    <output>
      {firstMatch === null ? (
        'There are no matches to send, so nothing changed.'
      ) : (
        <>
          Earshot sends all matches from <code>{firstMatch}</code> on again.
        </>
      )}
    </output>
  );
}

export function RotateSecret({ webhookId, onClose }: { webhookId: string; onClose: () => void }) {
  const rotate = useRotate(webhookId);
  return (
    <Modal title="Rotate the secret" onClose={onClose}>
      {rotate.data?.secret ? (
        <>
          <ShownOnce what="new secret" value={rotate.data.secret} />
          <p>
            Until <Time at={rotate.data.previous_expires_at} />, every message also has the signature of the
            previous secret.
          </p>
        </>
      ) : (
        <Form
          submit="Rotate"
          error={rotate.error}
          isPending={rotate.isPending}
          onSubmit={() => rotate.mutate()}
        >
          <p>
            The webhook gets a new signing secret. For 24 hours, messages have the signatures of both secrets,
            so that you can update the endpoint.
          </p>
        </Form>
      )}
    </Modal>
  );
}

export function DeleteWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const [, navigate] = useLocation();
  const remove = useDelete(webhook.id, () => navigate('/webhooks'));
  return (
    <Modal title="Delete the webhook" onClose={onClose}>
      <Form
        submit="Delete"
        kind="danger"
        error={remove.error}
        isPending={remove.isPending}
        onSubmit={() => remove.mutate()}
      >
        <p>
          Earshot stops sending to <strong>{webhook.name}</strong> and no longer lists its deliveries. You
          cannot undo this.
        </p>
      </Form>
    </Modal>
  );
}
