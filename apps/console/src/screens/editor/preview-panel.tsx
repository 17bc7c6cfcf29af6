import type { Answers } from '@earshot/sdk';
import { Suspense } from 'react';
import { lazyScreen } from '../../api/load-screen.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { platforms } from '../../parts/platforms.ts';
import styles from './editor.module.css';

type Previews = Answers['PreviewRule']['platforms'];

const PlatformPreview = lazyScreen(async () => (await import('./platform-preview.tsx')).PlatformPreview);

/** The estimated matches and cost of the draft, and the stored posts that it matches. */
export function PreviewPanel({
  previews,
  error,
  isPending,
  isStale,
}: {
  previews: Previews | undefined;
  error: Error | null;
  isPending: boolean;
  isStale: boolean;
}) {
  return (
    <section className={styles.preview} aria-label="Preview" aria-live="polite" aria-busy={isPending}>
      <h2>Preview</h2>
      {isPending && <Loading what="Searching stored items" />}
      {error && <ErrorNote error={error} />}
      {!previews && !error && !isPending && (
        <p className={styles.quiet}>
          Estimates the matches and the cost per day, and shows which stored posts the rule matches. It does
          not save the rule.
        </p>
      )}
      {previews && isStale && (
        <p className={styles.quiet}>This preview is for the queries before your last change.</p>
      )}
      <Suspense fallback={<Loading />}>
        {platforms.map((platform) => {
          const preview = previews?.[platform];
          return preview && <PlatformPreview key={platform} platform={platform} preview={preview} />;
        })}
      </Suspense>
    </section>
  );
}
