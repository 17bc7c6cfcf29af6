import { StatusMark } from '../../parts/status-mark.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import { attemptMeaning, type Delivery, outcomeWords } from './deliveries.ts';
import { statusOfOutcome } from './webhook-words.ts';
import styles from './webhooks.module.css';

type Attempt = Pick<Delivery, 'outcome' | 'status' | 'latency_ms' | 'message' | 'response'>;

/** The full result of an attempt. */
export function AttemptFacts({ attempt, isTest = false }: { attempt: Attempt; isTest?: boolean }) {
  const { outcome, status, latency_ms, message, response } = attempt;
  return (
    <dl className={styles.facts}>
      <dt>Outcome</dt>
      <dd>
        <StatusMark kind={statusOfOutcome(outcome)}>{outcomeWords[outcome]}</StatusMark>
        <p className={styles.quiet}>{attemptMeaning(attempt, { isTest })}</p>
      </dd>
      {status !== null && (
        <>
          <dt>Status</dt>
          <dd>{status}</dd>
        </>
      )}
      {latency_ms !== null && (
        <>
          <dt>Duration</dt>
          <dd>{latency_ms.toLocaleString()} ms</dd>
        </>
      )}
      {message !== null && (
        <>
          <dt>Message</dt>
          <dd>
            <UntrustedText text={message} />
          </dd>
        </>
      )}
      {response !== null && (
        <>
          <dt>Answer</dt>
          <dd>
            {response === '' ? <span className={styles.quiet}>empty</span> : <Answer text={response} />}
          </dd>
        </>
      )}
    </dl>
  );
}

function Answer({ text }: { text: string }) {
  return (
    <pre className={styles.answer}>
      <UntrustedText text={text} />
    </pre>
  );
}
