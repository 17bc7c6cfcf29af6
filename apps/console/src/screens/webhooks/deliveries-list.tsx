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
import { Unseen } from '../../parts/unseen.tsx';
import { type Delivery, messagesOf, outcomeMeaning, outcomeWords, type Webhook } from './deliveries.ts';
import { MessageRows } from './message-rows.tsx';
import { ReplayFrom } from './webhook-dialogs.tsx';
import styles from './webhooks.module.css';

type Outcome = Delivery['outcome'];

/** Messages with their attempts, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [params, setParams] = useSearchParams();
  const asked = params.get('outcome');
  const outcome = isOutcome(asked) ? asked : null;
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
      {!data && !error && <Loading what="Reading the deliveries" />}
      {data && messages.length === 0 && <NoDeliveries outcome={outcome} />}
      {messages.length > 0 && (
        <Table label="Messages, newest first">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Outcome</th>
              <th scope="col">Attempt</th>
              <th scope="col">Status</th>
              <th scope="col">Took</th>
              <th scope="col">Carries</th>
              <th scope="col">
                <Unseen>Actions</Unseen>
              </th>
            </tr>
          </thead>
          {messages.map((message) => (
            <MessageRows key={message.id} message={message} onReplay={setReplayFrom} />
          ))}
        </Table>
      )}
      <More pages={pages} />
      <p className={styles.quiet}>Delivered messages are listed for a day, all others for 30 days.</p>
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
      <option value="">Every outcome</option>
      {Object.entries(outcomeWords).map(([outcome, words]) => (
        <option key={outcome} value={outcome}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** Says so where matches were left out: nothing else of the page would. */
function Parked({ webhookId, onShow }: { webhookId: string; onShow: () => void }) {
  const { data } = useDeliveries(webhookId, 'parked');
  const count = data?.pages[0]?.deliveries.length ?? 0;
  if (count === 0) return null;
  const isMore = data?.pages[0]?.next_cursor !== null;
  return (
    <p className={styles.warning}>
      {isMore ? `More than ${count}` : count} {count === 1 && !isMore ? 'match was' : 'matches were'} left
      out, because the endpoint refuses {count === 1 ? 'it' : 'them'} and takes others.{' '}
      <Button onClick={onShow}>Show parked</Button>
    </p>
  );
}

function NoDeliveries({ outcome }: { outcome: Outcome | null }) {
  if (outcome !== null)
    return <EmptyNote title={`Nothing is listed as ${outcomeWords[outcome].toLowerCase()}.`} />;
  return (
    <EmptyNote title="Nothing was posted recently.">
      <p>
        Matches are posted as they arrive, from the creation of the webhook on. Send a test to see whether the
        endpoint answers.
      </p>
    </EmptyNote>
  );
}
