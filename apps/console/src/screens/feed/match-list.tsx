import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useRef } from 'react';
import { platformNames } from '../../parts/platforms.ts';
import { Time } from '../../parts/time.tsx';
import styles from './feed.module.css';
import type { FeedItem, Filter } from './feed-state.ts';
import { MarkedText } from './marked-text.tsx';
import { isHiddenBy, verdictNames } from './relevance-words.ts';
import { sizeWords } from './story-words.ts';

const rowPx = 68;
const overscan = 8;
/** Older matches are requested this many rows before the end. */
const rowsAhead = 30;

interface MatchListProps {
  readonly items: readonly FeedItem[];
  /** -1: none. */
  readonly peekIndex: number;
  readonly ruleNames: ReadonlyMap<string, string>;
  /** What the list leaves out unless it shows hidden matches. */
  readonly filter: Filter['relevance'];
  readonly onPeek: (id: string) => void;
  /** Reports whether older matches should be loaded. */
  readonly onNearEnd: (isNearEnd: boolean) => void;
  readonly onScrolled: (isAtTop: boolean) => void;
}

/** A virtual list: all rows have the same height, and only visible rows exist. */
export function MatchList({
  items,
  peekIndex,
  ruleNames,
  filter,
  onPeek,
  onNearEnd,
  onScrolled,
}: MatchListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  // Must be stable: a new function makes the virtualizer measure all rows again.
  const getItemKey = useCallback((index: number) => items[index]?.match.id ?? index, [items]);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey,
    overscan,
  });
  const shown = rows.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= items.length - rowsAhead;
  useEffect(() => onNearEnd(isNearEnd), [isNearEnd, onNearEnd]);
  const { scrollToIndex } = rows;
  useEffect(() => {
    if (peekIndex >= 0) scrollToIndex(peekIndex);
  }, [peekIndex, scrollToIndex]);
  return (
    <div
      ref={scroller}
      className={styles.list}
      onScroll={({ currentTarget }) => onScrolled(currentTarget.scrollTop < rowPx / 2)}
    >
      <ol style={{ height: rows.getTotalSize() }} aria-label="Matches, newest first">
        {shown.map(({ index, start, key }) => {
          const item = items[index];
          if (!item) return null;
          return (
            <li key={key} style={{ transform: `translateY(${start}px)` }}>
              <MatchRow
                item={item}
                ruleNames={ruleNames}
                filter={filter}
                isPeeked={index === peekIndex}
                onPeek={onPeek}
              />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

interface MatchRowProps extends Pick<MatchListProps, 'ruleNames' | 'filter' | 'onPeek'> {
  readonly item: FeedItem;
  readonly isPeeked: boolean;
}

/** Memoised, because scrolling renders the list at every frame. */
const MatchRow = memo(({ item: { match, marks }, ruleNames, filter, isPeeked, onPeek }: MatchRowProps) => {
  const { payload, relevance, muted_by, story } = match;
  const size = story ? sizeWords(story) : null;
  return (
    <button
      type="button"
      className={styles.row}
      aria-pressed={isPeeked}
      data-hidden={isHiddenBy(filter, match) || undefined}
      onClick={() => onPeek(match.id)}
    >
      <span className={styles.meta}>
        <Time at={match.created_at} />
        <span className={styles.platform}>{platformNames[match.platform]}</span>
        {relevance && relevance.verdict !== 'unjudged' && (
          <span className={styles.verdict} data-verdict={relevance.verdict}>
            {verdictNames[relevance.verdict]}
          </span>
        )}
        {muted_by !== undefined && <span className={styles.verdict}>muted</span>}
        {size !== null && <span className={styles.size}>{size}</span>}
        <span className={styles.rule}>{ruleNames.get(match.rule_id) ?? match.rule_id}</span>
      </span>
      <span className={styles.clamped}>
        {payload.title !== null && (
          <strong>
            <MarkedText text={payload.title} marks={marks.title} />{' '}
          </strong>
        )}
        {payload.text !== null && <MarkedText text={payload.text} marks={marks.text} />}
      </span>
    </button>
  );
});
