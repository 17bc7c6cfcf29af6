import { useState } from 'react';
import { Button } from './button.tsx';
import styles from './shown-once.module.css';

/** A key or secret that nobody can show again. */
export function ShownOnce({ what, value }: { what: string; value: string }) {
  const [state, setState] = useState<'shown' | 'copied' | 'refused'>('shown');
  const copy = () => {
    // Only pages that came by HTTPS, or from this machine, have a clipboard.
    const written = navigator.clipboard?.writeText(value) ?? Promise.reject(new Error('no clipboard'));
    written.then(
      () => setState('copied'),
      () => setState('refused'),
    );
  };
  return (
    <div className={styles.once}>
      <p>
        This is the {what}. It is shown this once and cannot be read again: keep it where secrets are kept.
      </p>
      <div className={styles.row}>
        <code className={styles.value}>{value}</code>
        <Button kind="primary" onClick={copy}>
          Copy
        </Button>
      </div>
      <output className={styles.state}>
        {state === 'copied' && 'Copied.'}
        {state === 'refused' && 'The browser does not let this page copy: select the text instead.'}
      </output>
    </div>
  );
}
