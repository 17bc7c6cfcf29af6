import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';
import { AttemptFacts } from './attempt-facts.tsx';
import { attemptNumbers, type Delivery, type Message, outcomeWords } from './deliveries.ts';
import { statusOfOutcome } from './webhook-words.ts';
import styles from './webhooks.module.css';

/** The number of columns of the table. */
const columns = 7;

/** A row with the latest attempt of a message. It expands to all attempts with their results. */
export function MessageRows({
  message: { latest, attempts },
  onReplay,
}: {
  message: Message;
  onReplay: (matchId: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const { outcome, times, last_at, status, latency_ms, first_match_id } = latest;
  return (
    <tbody>
      <tr>
        <td>
          <button
            type="button"
            className={styles.toggle}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Time at={latest.created_at} />
          </button>
        </td>
        <td>
          <StatusMark kind={statusOfOutcome(outcome)}>{outcomeWords[outcome]}</StatusMark>
        </td>
        <td>
          {attemptNumbers(latest)}
          {times > 1 && (
            <span className={styles.quiet}>
              {' '}
              last <Time at={last_at} />
            </span>
          )}
        </td>
        <td>{status ?? '–'}</td>
        <td className={styles.duration}>{latency_ms === null ? '–' : `${latency_ms.toLocaleString()} ms`}</td>
        <td>
          <Content delivery={latest} />
        </td>
        <td>
          {first_match_id !== null && (
            <Button kind="plain" onClick={() => onReplay(first_match_id)}>
              Send again from here …
            </Button>
          )}
        </td>
      </tr>
      {isOpen && <AttemptsRow attempts={attempts} messageId={latest.message_id} />}
    </tbody>
  );
}

function headingOf(one: Delivery): string {
  if (one.attempt === null) return 'Parked';
  return one.outcome === 'delivered' && one.times > 1
    ? attemptNumbers(one)
    : `Attempt ${attemptNumbers(one)}`;
}

function AttemptsRow({ attempts, messageId }: { attempts: readonly Delivery[]; messageId: string | null }) {
  const isCounted = attempts.some(({ outcome, times }) => outcome === 'delivered' && times > 1);
  return (
    <tr>
      <td colSpan={columns}>
        <ol className={styles.attempts}>
          {attempts.map((one) => (
            <li key={one.id}>
              <h3>
                {headingOf(one)}, <Time at={one.created_at} />
                {one.times > 1 && (
                  <>
                    {' '}
                    to <Time at={one.last_at} />
                  </>
                )}
              </h3>
              <AttemptFacts attempt={one} />
            </li>
          ))}
        </ol>
        {messageId !== null && (
          <p className={styles.quiet}>
            {isCounted ? 'last webhook-id' : 'webhook-id'} <code>{messageId}</code>
          </p>
        )}
      </td>
    </tr>
  );
}

function Content({
  delivery: { match_count, first_match_id, last_match_id, notice_id },
}: {
  delivery: Delivery;
}) {
  if (notice_id !== undefined)
    return (
      <>
        a notice <code>{notice_id}</code>
      </>
    );
  const ids = first_match_id === last_match_id ? first_match_id : `${first_match_id} to ${last_match_id}`;
  return (
    <>
      {match_count === 1 ? '1 match' : `${match_count.toLocaleString()} matches`}{' '}
      <code className={styles.quiet}>{ids}</code>
    </>
  );
}
