import { useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';

export function CopyButton({ label, text }: { label: string; text: string }) {
  const [words, setWords] = useState(label);
  return (
    <Button
      kind="plain"
      onClick={() => {
        copyText(text).then(
          () => setWords('Copied'),
          () => setWords('The browser does not allow copying'),
        );
      }}
    >
      <span aria-live="polite">{words}</span>
    </Button>
  );
}
