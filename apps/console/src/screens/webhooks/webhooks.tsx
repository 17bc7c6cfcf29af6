import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Standing } from '../../parts/standing.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import type { Webhook } from './deliveries.ts';
import { NewWebhook } from './new-webhook.tsx';
import { OneWebhook } from './one-webhook.tsx';
import { Posts } from './posts.tsx';
import { standingOfWebhook } from './webhook-words.ts';

export function Webhooks({ webhookId }: { webhookId?: string }) {
  const api = useApi();
  const [isCreating, setCreating] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['listWebhooks'],
    queryFn: ({ signal }) => api.listWebhooks({}, { signal }),
    refetchInterval: 10_000,
  });
  if (webhookId !== undefined && data) return <Found webhooks={data.webhooks} webhookId={webhookId} />;
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
      {!data && !error && <Loading what="Reading the webhooks" />}
      {data && webhookId === undefined && <WebhookTable webhooks={data.webhooks} />}
      {isCreating && <NewWebhook onClose={() => setCreating(false)} />}
    </Screen>
  );
}

function Found({ webhooks, webhookId }: { webhooks: readonly Webhook[]; webhookId: string }) {
  const webhook = webhooks.find(({ id }) => id === webhookId);
  if (webhook) return <OneWebhook webhook={webhook} />;
  return (
    <Screen title="Webhook">
      <EmptyNote title="There is no such webhook.">
        <Link href="/webhooks">All webhooks</Link>
      </EmptyNote>
    </Screen>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0)
    return (
      <EmptyNote title="There is no webhook yet.">
        <p>
          A webhook posts each match to your URL as it arrives: signed, in order, and retried until it is
          accepted. Create one with a name and a URL.
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
          <th scope="col">Posts</th>
          <th scope="col">To</th>
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
  const { kind, words } = standingOfWebhook(webhook);
  const { failing_since, next_attempt_at } = webhook;
  return (
    <tr>
      <th scope="row">
        <Link href={`/webhooks/${webhook.id}`}>
          <StrangersText text={webhook.name} />
        </Link>
      </th>
      <td>
        <Standing kind={kind}>
          {words}
          {failing_since !== null && (
            <>
              {' '}
              since <Time at={failing_since} />
            </>
          )}
        </Standing>
      </td>
      <td>{next_attempt_at === null ? '–' : <Time at={next_attempt_at} />}</td>
      <td>
        <Posts webhook={webhook} />
      </td>
      <td>
        <StrangersText text={webhook.url} />
      </td>
    </tr>
  );
}
