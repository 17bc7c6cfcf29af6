import type { Answers } from '@earshot/sdk';
import { Link } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { platformNames, platforms } from '../../parts/platforms.ts';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './feed.module.css';
import { addHidden, type FeedState } from './feed-state.ts';
import { hiddenWords, verdictNames } from './relevance-words.ts';
import type { RelevanceActions, Suggestion } from './use-relevance.ts';

/** Above the list: the hidden matches, and what came of the latest label or mute. */
export function RelevanceNotes({
  actions,
  hidden,
  isShown,
  onShow,
  onRestart,
}: {
  actions: RelevanceActions;
  hidden: FeedState['hidden'];
  /** Whether the list includes hidden matches. */
  isShown: boolean;
  onShow: (isShown: boolean) => void;
  onRestart: () => void;
}) {
  const { offer, muted, error } = actions;
  const words = isShown
    ? hiddenWords(hidden.listed, true)
    : hiddenWords(addHidden(hidden.listed, hidden.arrived));
  const arrived = isShown ? hiddenWords(hidden.arrived) : null;
  return (
    <>
      <Announcement actions={actions} />
      <div className={styles.notes}>
        {error && <ErrorNote error={error} />}
        {offer && <Offer offer={offer} actions={actions} />}
        {muted && <Muted muted={muted} actions={actions} />}
        {(words !== null || isShown) && (
          <p className={styles.note}>
            {words ?? 'Hidden matches are listed too.'}{' '}
            <Button kind="plain" onClick={() => onShow(!isShown)}>
              {isShown ? 'Hide them' : 'Show them'}
            </Button>
          </p>
        )}
        {arrived !== null && (
          <p className={styles.note}>
            {arrived} They arrived after the list was loaded.{' '}
            <Button kind="plain" onClick={onRestart}>
              Show them
            </Button>
          </p>
        )}
      </div>
    </>
  );
}

/** For screen readers: what came of the latest key. */
function Announcement({ actions: { labelled, offer, muted } }: { actions: RelevanceActions }) {
  return (
    <output className={styles.visuallyHidden}>
      {labelled && (
        // A new element for each label, so that equal words are announced again.
        <span key={`${labelled.match.id} ${labelled.label}`}>
          {labelled.label === null ? 'Label removed.' : `Labelled ${verdictNames[labelled.label]}.`}
        </span>
      )}
      {offer && (
        <span>
          You can mute <SourceName {...offer} />.
        </span>
      )}
      {muted && (
        <span>
          Now muted: <SourceName {...muted} />.
        </span>
      )}
    </output>
  );
}

function Offer({ offer, actions }: { offer: Suggestion; actions: RelevanceActions }) {
  return (
    <p className={styles.note}>
      <span>
        You rejected {offer.rejected} matches of <SourceName {...offer} />.
      </span>
      <Button onClick={() => actions.mute(offer)}>
        Mute <SourceName {...offer} />
      </Button>
      <Button kind="plain" onClick={actions.dismiss}>
        Not now
      </Button>
    </p>
  );
}

function Muted({ muted, actions }: { muted: Answers['MuteMatches']; actions: RelevanceActions }) {
  const queries = platforms.flatMap((platform) => {
    const query = muted.query[platform];
    return query === undefined ? [] : [{ platform, query }];
  });
  return (
    <>
      <p className={styles.note}>
        <span>
          Muted <SourceName {...muted} />.
        </span>
        <Button onClick={() => actions.unmute(muted.id)}>Undo</Button>
        <Button kind="plain" onClick={actions.forgetMuted}>
          Close
        </Button>
      </p>
      {queries.length > 0 && (
        <p className={styles.note}>
          To save their price, add to the query:
          {queries.map(({ platform, query }) => (
            <span key={platform} className={styles.exclusion}>
              {platformNames[platform]}{' '}
              <code>
                <UntrustedText text={query} />
              </code>{' '}
              <CopyButton label="Copy" text={query} />
            </span>
          ))}
          {muted.rule_id !== null && <Link href={`/rules/${muted.rule_id}`}>Change the query</Link>}
        </p>
      )}
    </>
  );
}

function SourceName({ author, domain }: Pick<Suggestion, 'author' | 'domain'>) {
  return (
    <>
      {author !== null && '@'}
      <UntrustedText text={author ?? domain ?? ''} />
    </>
  );
}
