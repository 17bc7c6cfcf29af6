import { Standing } from '../../parts/standing.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { type Delivery, outcomeMeaning, outcomeWords } from './deliveries.ts';
import { standingOfOutcome } from './webhook-words.ts';
import styles from './webhooks.module.css';

type Attempt = Pick<Delivery, 'outcome' | 'status' | 'latency_ms' | 'message' | 'response'>;

/** What came back, in full. */
export function AttemptFacts({
  attempt: { outcome, status, latency_ms, message, response },
}: {
  attempt: Attempt;
}) {
  return (
    <dl className={styles.facts}>
      <dt>Outcome</dt>
      <dd>
        <Standing kind={standingOfOutcome(outcome)}>{outcomeWords[outcome]}</Standing>
        <p className={styles.quiet}>{outcomeMeaning[outcome]}</p>
      </dd>
      {status !== null && (
        <>
          <dt>Status</dt>
          <dd>{status}</dd>
        </>
      )}
      {latency_ms !== null && (
        <>
          <dt>Took</dt>
          <dd>{latency_ms.toLocaleString()} ms</dd>
        </>
      )}
      {message !== null && (
        <>
          <dt>Why</dt>
          <dd>
            <StrangersText text={message} />
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
      <StrangersText text={text} />
    </pre>
  );
}
