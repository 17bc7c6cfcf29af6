import type { Rule } from '@earshot/sdk';
import { useId } from 'react';
import { Button } from '../../parts/button.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import { AddExample } from './add-example.tsx';
import styles from './feed.module.css';
import type { FeedItem } from './feed-state.ts';
import { mutableAuthor, mutableSite } from './mutes.ts';
import { sourceWords } from './relevance-words.ts';
import { labelOf, type RelevanceActions } from './use-relevance.ts';

/** Labels the open match, and mutes its author or site. */
export function RelevancePart({
  match,
  rule,
  actions,
}: {
  match: FeedItem['match'];
  rule: Rule | undefined;
  actions: RelevanceActions;
}) {
  const { rule_id, relevance, muted_by } = match;
  const label = labelOf(match);
  const author = mutableAuthor(match);
  const domain = mutableSite(match);
  const mutes = [
    ...(author === null
      ? []
      : [{ words: 'Mute author', run: () => actions.mute({ rule_id, author, domain: null }) }]),
    ...(domain === null
      ? []
      : [{ words: 'Mute site', run: () => actions.mute({ rule_id, author: null, domain }) }]),
  ];
  const changes = muted_by === undefined ? mutes : [{ words: 'Unmute', run: () => actions.unmute(muted_by) }];
  const whyId = useId();
  const common = { disabled: !actions.isAllowed, 'aria-describedby': actions.isAllowed ? undefined : whyId };
  return (
    <section className={styles.relevance} aria-label="Relevance">
      <div className={styles.buttons}>
        <Button
          {...common}
          className={styles.label}
          aria-pressed={label === 'relevant'}
          onClick={() => actions.toggleLabel(match, 'relevant')}
        >
          Relevant <kbd>+</kbd>
        </Button>
        <Button
          {...common}
          className={styles.label}
          aria-pressed={label === 'not_relevant'}
          onClick={() => actions.toggleLabel(match, 'not_relevant')}
        >
          Not relevant <kbd>-</kbd>
        </Button>
        {changes.map(({ words, run }, index) => (
          // With its position as the key, a button keeps the focus when it becomes its opposite.
          <Button key={index.toString()} {...common} onClick={run}>
            {words}
          </Button>
        ))}
        {rule && label !== null && (
          <AddExample key={`${match.id} ${label}`} match={match} label={label} rule={rule} />
        )}
      </div>
      {!actions.isAllowed && (
        <p id={whyId} className={styles.quiet}>
          Your key has no <code>matches:label</code> scope, so you cannot label or mute.
        </p>
      )}
      {muted_by !== undefined && <p className={styles.quiet}>Muted: lists and deliveries leave it out.</p>}
      {relevance && (relevance.by === 'judge' || relevance.reason !== null) && (
        <p className={styles.quiet}>
          {sourceWords(relevance)} {relevance.reason !== null && <UntrustedText text={relevance.reason} />}
        </p>
      )}
    </section>
  );
}
