import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import type { Webhook } from './deliveries.ts';
import { Feeds } from './feeds.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { OneWebhook } from './one-webhook.tsx';
import { WebhookEvents } from './webhook-events.tsx';
import { formatWords, statusOfWebhook } from './webhook-words.ts';

export function Webhooks({ webhookId }: { webhookId?: string }) {
  const api = useApi();
  const [isCreating, setCreating] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['listWebhooks'],
    queryFn: ({ signal }) => api.listWebhooks({}, { signal }),
    refetchInterval: 10_000,
  });
  if (webhookId !== undefined && data)
    return <SelectedWebhook webhooks={data.webhooks} webhookId={webhookId} />;
  return (
    <Screen
      title="Webhooks"
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          New webhook
        </Button>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Loading the webhooks" />}
      {data && webhookId === undefined && <WebhookTable webhooks={data.webhooks} />}
      {data && webhookId === undefined && <Feeds />}
      {isCreating && <NewWebhook onClose={() => setCreating(false)} />}
    </Screen>
  );
}

function SelectedWebhook({ webhooks, webhookId }: { webhooks: readonly Webhook[]; webhookId: string }) {
  const webhook = webhooks.find(({ id }) => id === webhookId);
  if (webhook) return <OneWebhook webhook={webhook} />;
  return (
    <Screen title="Webhook">
      <EmptyNote title="The webhook does not exist.">
        <Link href="/webhooks">Show all webhooks</Link>
      </EmptyNote>
    </Screen>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0)
    return (
      <EmptyNote title="There are no webhooks yet.">
        <p>
          A webhook sends each match to your URL as it arrives. Messages are signed, in order, and retried
          until your endpoint accepts them.
        </p>
      </EmptyNote>
    );
  return (
    <Table label="Webhooks">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col">Next attempt</th>
          <th scope="col">Format</th>
          <th scope="col">Events</th>
          <th scope="col">URL</th>
        </tr>
      </thead>
      <tbody>
        {webhooks.map((webhook) => (
          <WebhookRow key={webhook.id} webhook={webhook} />
        ))}
      </tbody>
    </Table>
  );
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const { kind, words } = statusOfWebhook(webhook);
  const { failing_since, next_attempt_at } = webhook;
  return (
    <tr>
      <th scope="row">
        <Link href={`/webhooks/${webhook.id}`}>
          <UntrustedText text={webhook.name} />
        </Link>
      </th>
      <td>
        <StatusMark kind={kind}>
          {words}
          {failing_since !== null && (
            <>
              {' '}
              since <Time at={failing_since} />
            </>
          )}
        </StatusMark>
      </td>
      <td>{next_attempt_at === null ? '–' : <Time at={next_attempt_at} />}</td>
      <td>{formatWords(webhook)}</td>
      <td>
        <WebhookEvents webhook={webhook} />
      </td>
      <td>
        <UntrustedText text={webhook.url} />
      </td>
    </tr>
  );
}
