import { useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';
import styles from './shown-once.module.css';

/** Shows a key or secret that the server does not return again. */
export function ShownOnce({ what, value }: { what: string; value: string }) {
  const [state, setState] = useState<'shown' | 'copied' | 'refused'>('shown');
  const copy = () => {
    copyText(value).then(
      () => setState('copied'),
      () => setState('refused'),
    );
  };
  return (
    <div className={styles.once}>
      <p>This is the {what}. It is shown only once. Copy it now and store it as a secret.</p>
      <div className={styles.row}>
        <code className={styles.value}>{value}</code>
        <Button kind="primary" onClick={copy}>
          Copy
        </Button>
      </div>
      <output className={styles.state}>
        {state === 'copied' && 'Copied.'}
        {state === 'refused' && 'The browser does not allow copying. Select the text and copy it yourself.'}
      </output>
    </div>
  );
}
