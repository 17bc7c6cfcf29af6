import { EarshotError } from '@earshot/sdk';
import { Button } from './button.tsx';
import styles from './note.module.css';

/** An error message of the server, with the request id to report. */
export function ErrorNote({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const requestId = error instanceof EarshotError ? error.requestId : undefined;
  return (
    <div className={styles.error} role="alert">
      <p>{error.message}</p>
      {requestId !== undefined && (
        <p className={styles.detail}>
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
