import type { Answers } from '@earshot/sdk';
import { ErrorNote } from '../../parts/error-note.tsx';
import { formatCount, formatTime, formatUsd, formatUsdRange } from '../../parts/format.ts';
import { Loading } from '../../parts/loading.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import { platforms } from './draft.ts';
import styles from './editor.module.css';

type Previews = Answers['PreviewRule']['platforms'];
type Preview = NonNullable<Previews['x']>;

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
      {platforms.map((platform) => {
        const preview = previews?.[platform];
        return preview && <PlatformPreview key={platform} platform={platform} preview={preview} />;
      })}
    </section>
  );
}

const boundWords = { at_least: 'at least ', at_most: 'at most ' };

function dayWords({ average, busiest, days }: NonNullable<Preview['estimate']['matches_per_day']>) {
  const most = busiest === null ? '' : `, ${formatCount(busiest)} on the busiest of ${days} days`;
  return `${average.toLocaleString()}${most}`;
}

function PlatformPreview({ platform, preview }: { platform: keyof typeof platformNames; preview: Preview }) {
  const { estimate, sample, against } = preview;
  const { matches_per_day: perDay, usd_per_day, usd_per_month, busiest_hour: busiest } = estimate;
  const bound = estimate.bound === null ? '' : boundWords[estimate.bound];
  return (
    <div className={styles.platformPreview}>
      <h3>{platformNames[platform]}</h3>
      <dl>
        <dt>Matches per day</dt>
        <dd>{perDay ? `${bound}${dayWords(perDay)}` : 'unknown'}</dd>
        <dt>Cost per day</dt>
        <dd>{usd_per_day ? `${bound}${formatUsdRange(usd_per_day)}` : 'unknown'}</dd>
        {usd_per_month && (
          <>
            <dt>Cost in 30 days</dt>
            <dd>
              {bound}
              {formatUsdRange(usd_per_month)}
            </dd>
          </>
        )}
        {busiest && (
          <>
            <dt>Busiest hour</dt>
            <dd>
              {formatCount(busiest.matches)} from {formatTime(busiest.starts_at)}
            </dd>
          </>
        )}
        {against && (
          <>
            <dt>Compared with the current rule</dt>
            <dd>
              +{formatCount(against.added)}, −{formatCount(against.removed)} of the last 7 days
              {against.is_estimate && ', estimated'}
            </dd>
          </>
        )}
      </dl>
      <p className={styles.quiet}>
        {estimate.basis_note} {estimate.fee_usd > 0 && `The estimate cost ${formatUsd(estimate.fee_usd)}.`}
      </p>
      <p>
        {formatCount(sample.matched)} of {formatCount(sample.evaluated)} stored items match
        {sample.undecided > 0 && `, ${formatCount(sample.undecided)} cannot be decided`}.
      </p>
      <ul className={styles.samples}>
        {sample.matches.map(({ id, payload }) => (
          <li key={id}>
            <UntrustedText text={payload.title ?? payload.text ?? ''} />
          </li>
        ))}
      </ul>
    </div>
  );
}
