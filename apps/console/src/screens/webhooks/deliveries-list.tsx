import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Table } from '../../parts/table.tsx';
import { VisuallyHidden } from '../../parts/visually-hidden.tsx';
import { type Delivery, messagesOf, outcomeMeaning, outcomeWords, type Webhook } from './deliveries.ts';
import { MessageRows } from './message-rows.tsx';
import { ReplayFrom } from './webhook-dialogs.tsx';
import styles from './webhooks.module.css';

type Outcome = Delivery['outcome'];

/** The messages of a webhook with their attempts, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [params, setParams] = useSearchParams();
  const requested = params.get('outcome');
  const outcome = isOutcome(requested) ? requested : null;
  const [replayFrom, setReplayFrom] = useState<string | null>(null);
  const { data, error, refetch, ...pages } = useDeliveries(webhook.id, outcome);
  const messages = messagesOf(data?.pages.flatMap(({ deliveries }) => deliveries) ?? []);
  return (
    <section className={styles.section} aria-labelledby="deliveries">
      <header className={styles.header}>
        <h2 id="deliveries">Deliveries</h2>
        <OutcomeSelect
          value={outcome}
          onChange={(chosen) => setParams(chosen === '' ? {} : { outcome: chosen }, { replace: true })}
        />
      </header>
      {outcome !== 'parked' && (
        <Parked webhookId={webhook.id} onShow={() => setParams({ outcome: 'parked' })} />
      )}
      {outcome !== null && <p className={styles.quiet}>{outcomeMeaning[outcome]}</p>}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Loading the deliveries" />}
      {data && messages.length === 0 && <NoDeliveries outcome={outcome} />}
      {messages.length > 0 && (
        <Table label="Messages, newest first">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Outcome</th>
              <th scope="col">Attempt</th>
              <th scope="col">Status</th>
              <th scope="col">Duration</th>
              <th scope="col">Content</th>
              <th scope="col">
                <VisuallyHidden>Actions</VisuallyHidden>
              </th>
            </tr>
          </thead>
          {messages.map((message) => (
            <MessageRows key={message.id} message={message} onReplay={setReplayFrom} />
          ))}
        </Table>
      )}
      <More pages={pages} />
      <p className={styles.quiet}>Delivered messages are listed for 1 day, all others for 30 days.</p>
      {replayFrom !== null && (
        <ReplayFrom webhookId={webhook.id} matchId={replayFrom} onClose={() => setReplayFrom(null)} />
      )}
    </section>
  );
}

function isOutcome(name: string | null): name is Outcome {
  return name !== null && Object.hasOwn(outcomeWords, name);
}

function useDeliveries(webhookId: string, outcome: Outcome | null) {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: ['listDeliveries', webhookId, outcome],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      api.listDeliveries(
        {
          webhook_id: webhookId,
          ...(outcome !== null && { outcome }),
          ...(pageParam !== null && { cursor: pageParam }),
        },
        { signal },
      ),
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 10_000,
  });
}

function OutcomeSelect({ value, onChange }: { value: Outcome | null; onChange: (outcome: string) => void }) {
  return (
    <select aria-label="Outcome" value={value ?? ''} onChange={({ target }) => onChange(target.value)}>
      <option value="">All outcomes</option>
      {Object.entries(outcomeWords).map(([outcome, words]) => (
        <option key={outcome} value={outcome}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** Warns about parked matches, which are otherwise easy to miss. */
function Parked({ webhookId, onShow }: { webhookId: string; onShow: () => void }) {
  const { data } = useDeliveries(webhookId, 'parked');
  const count = data?.pages[0]?.deliveries.length ?? 0;
  if (count === 0) return null;
  const isMore = data?.pages[0]?.next_cursor !== null;
  return (
    <p className={styles.warning}>
      {isMore ? `More than ${count}` : count} {count === 1 && !isMore ? 'match was' : 'matches were'} parked,
      because the endpoint refuses {count === 1 && !isMore ? 'it' : 'them'} and accepts others.{' '}
      <Button onClick={onShow}>Show parked</Button>
    </p>
  );
}

function NoDeliveries({ outcome }: { outcome: Outcome | null }) {
  if (outcome !== null)
    return <EmptyNote title={`No messages with the outcome “${outcomeWords[outcome]}”.`} />;
  return (
    <EmptyNote title="No recent deliveries.">
      <p>
        The webhook sends matches that arrive after its creation. To check that the endpoint answers, send a
        test message.
      </p>
    </EmptyNote>
  );
}
