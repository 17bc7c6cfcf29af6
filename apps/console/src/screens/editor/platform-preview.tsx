import type { Answers } from '@earshot/sdk';
import { formatCount, formatTime, formatUsd, formatUsdRange } from '../../parts/format.ts';
import { platformNames } from '../../parts/platforms.ts';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './editor.module.css';

type Preview = NonNullable<Answers['PreviewRule']['platforms']['x']>;

const boundWords = { at_least: 'at least ', at_most: 'at most ' };

function dayWords({ average, busiest, days }: NonNullable<Preview['estimate']['matches_per_day']>) {
  const most = busiest === null ? '' : `, ${formatCount(busiest)} on the busiest of ${days} days`;
  return `${average.toLocaleString()}${most}`;
}

export function PlatformPreview({
  platform,
  preview,
}: {
  platform: keyof typeof platformNames;
  preview: Preview;
}) {
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
