import type { Rule } from '@earshot/sdk';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { Time } from '../../parts/time.tsx';
import { UntrustedLink, UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './feed.module.css';
import type { FeedItem } from './feed-state.ts';
import { MarkedText } from './marked-text.tsx';
import type { Mark } from './marks.ts';
import { RelevancePart } from './relevance-part.tsx';
import { StoryPart } from './story-part.tsx';
import type { RelevanceActions } from './use-relevance.ts';

/** A panel with one match: the post, and the clauses of the rule that matched. It is not modal, so the list stays usable. */
export function Peek({
  item,
  error,
  isMissing,
  rule,
  relevance,
  story,
  onOpen,
  onClose,
}: {
  item: FeedItem | undefined;
  error: Error | null;
  isMissing: boolean;
  rule: Rule | undefined;
  relevance: RelevanceActions;
  /** The story of the match; undefined if the list does not group by story. */
  story: FeedItem['match']['story'];
  onOpen: (matchId: string, story: FeedItem['match']['story']) => void;
  onClose: () => void;
}) {
  const [active, setActive] = useState<number | null>(null);
  return (
    <aside className={styles.peek} aria-label="The match">
      <header className={styles.peekHeader}>
        <h2>{rule ? <Link href={`/rules/${rule.id}`}>{rule.name}</Link> : 'Match'}</h2>
        <div className={styles.peekActions}>
          {item && (
            // The link shows the match without the filters of the list.
            <CopyButton
              key={item.match.id}
              label="Copy link"
              text={`${window.location.origin}/feed?peek=${item.match.id}`}
            />
          )}
          <Button kind="plain" onClick={onClose}>
            Close <kbd>Esc</kbd>
          </Button>
        </div>
      </header>
      {error && <ErrorNote error={error} />}
      {isMissing && <p>The match does not exist: it was removed, or is no longer stored.</p>}
      {!item && !error && !isMissing && <Loading what="Loading the match" />}
      {item && (
        <>
          <RelevancePart match={item.match} rule={rule} actions={relevance} />
          <Post item={item} active={active} />
          <WhyPart item={item} rule={rule} active={active} onActive={setActive} />
          {story && <StoryPart story={story} current={item.match.id} onOpen={(id) => onOpen(id, story)} />}
        </>
      )}
    </aside>
  );
}

function Post({ item: { match, marks }, active }: { item: FeedItem; active: number | null }) {
  const { payload, platform, created_at, via } = match;
  return (
    <article className={styles.post}>
      <p className={styles.meta}>
        <span className={styles.platform}>{platformNames[platform]}</span>
        <Time at={payload.published_at ?? created_at} />
        {payload.language !== null && <span>{payload.language}</span>}
        {via === 'search' && <span>found when a gap was repaired</span>}
      </p>
      {payload.author && (
        <p>
          <UntrustedText text={payload.author.name ?? payload.author.id} />{' '}
          {payload.author.handle !== null && (
            <span className={styles.quiet}>
              @<UntrustedText text={payload.author.handle} />
            </span>
          )}
        </p>
      )}
      {payload.title !== null && (
        <h3>
          <MarkedText text={payload.title} marks={marks.title} active={active} />
        </h3>
      )}
      {payload.text !== null && (
        <p className={styles.full}>
          <MarkedText text={payload.text} marks={marks.text} active={active} />
        </p>
      )}
      {payload.url !== null && (
        <p>
          <UntrustedLink href={payload.url} />
        </p>
      )}
    </article>
  );
}

interface WhyPartProps {
  readonly item: FeedItem;
  readonly rule: Rule | undefined;
  readonly active: number | null;
  readonly onActive: (evidence: number | null) => void;
}

function WhyPart({ item: { match }, rule, active, onActive }: WhyPartProps) {
  const { evidence, undecided, verdict, confidence } = match.why;
  const isSameVersion = rule?.version === match.rule_version;
  const value = isSameVersion ? rule?.platforms[match.platform]?.translated_value : undefined;
  const clauses = evidence.map(({ rule_span }, index): Mark => ({ ...rule_span, evidence: index }));
  return (
    <section className={styles.why}>
      <h3>Why</h3>
      {value !== undefined && (
        <p className={styles.value}>
          <MarkedText text={value} marks={clauses} active={active} />
        </p>
      )}
      {rule && !isSameVersion && (
        <p className={styles.quiet}>
          Version {match.rule_version} of the rule matched. The current version is {rule.version}.
        </p>
      )}
      <ul className={styles.evidence}>
        {evidence.map(({ field, text, rule_span }, index) => (
          <li key={`${rule_span.start} ${text}`}>
            <button
              type="button"
              aria-pressed={active === index}
              onMouseEnter={() => onActive(index)}
              onMouseLeave={() => onActive(null)}
              onFocus={() => onActive(index)}
              onBlur={() => onActive(null)}
            >
              <code>{value?.slice(rule_span.start, rule_span.end) ?? field}</code>
              <span className={styles.quiet}>{field}</span>
              <UntrustedText text={text} />
            </button>
          </li>
        ))}
        {undecided.map(({ field, why, rule_span }) => (
          <li key={`${rule_span.start} undecided`} className={styles.quiet}>
            <code>{value?.slice(rule_span.start, rule_span.end) ?? field}</code> not decided: {why}
          </li>
        ))}
      </ul>
      <p className={styles.quiet}>{verdictWords(verdict, confidence)}</p>
    </section>
  );
}

function verdictWords(verdict: string, confidence: string): string {
  if (verdict === 'unknown') return 'The platform matched this post. Its content alone does not show why.';
  return confidence === 'exact'
    ? 'Earshot’s own evaluation of the rule agrees with the platform.'
    : 'Earshot’s own evaluation agrees, but the platform may split words differently.';
}
