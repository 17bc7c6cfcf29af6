import { useCallback, useEffect, useMemo, useState } from 'react';
import { disconnectedPlatforms, receivingState } from '../../api/disconnected.ts';
import { useRules } from '../../api/rules.ts';
import { useShortcuts } from '../../frame/shortcuts.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { ExportButton } from './export-button.tsx';
import styles from './feed.module.css';
import { FeedFilters } from './feed-filters.tsx';
import { FeedHistogram } from './feed-histogram.tsx';
import { addHidden, type FeedItem } from './feed-state.ts';
import { LiveStatus } from './live-status.tsx';
import { MatchList } from './match-list.tsx';
import { Peek } from './peek.tsx';
import { RelevanceNotes } from './relevance-notes.tsx';
import { hiddenWords } from './relevance-words.ts';
import { SilenceNote } from './silence-note.tsx';
import { useFeed } from './use-feed.ts';
import { useFeedAddress } from './use-feed-address.ts';
import { useMatch } from './use-match.ts';
import { type LabelName, useRelevance } from './use-relevance.ts';

export function Feed() {
  const address = useFeedAddress();
  const [attempt, setAttempt] = useState(0);
  const restart = useCallback(() => setAttempt((before) => before + 1), []);
  return <Matches key={`${attempt} ${JSON.stringify(address.query)}`} {...address} restart={restart} />;
}

interface MatchesProps extends ReturnType<typeof useFeedAddress> {
  readonly restart: () => void;
}

function Matches({ query, peek, change, restart }: MatchesProps) {
  const { data: rules = [], isSuccess: isLoaded } = useRules();
  const [wantsOlder, setWantsOlder] = useState(false);
  const { state, dispatch, error, connection } = useFeed(query, wantsOlder, restart);
  const [isAtTop, setAtTop] = useState(true);
  const { items, isPaused, freshCount, isListed } = state;
  const isGrouped = query.group !== undefined;
  const ruleNames = useMemo(() => new Map(rules.map(({ id, name }) => [id, name])), [rules]);

  const selected = rules.filter(({ id }) => query.rule_id === undefined || id === query.rule_id);
  const disconnected = disconnectedPlatforms(selected).filter(
    ({ platform }) => query.platform === undefined || platform === query.platform,
  );

  useEffect(
    () => dispatch({ type: 'paused', isPaused: isGrouped || !isAtTop || peek !== null }),
    [dispatch, isGrouped, isAtTop, peek],
  );
  // A match that is opened from its story may not be in the list, and then has no story.
  const [keptStory, setKeptStory] = useState<FeedItem['match']['story']>();
  const show = useCallback(
    (id: string | null, story?: FeedItem['match']['story']) => {
      setKeptStory(story);
      change({ peek: id }, { replace: true });
    },
    [change],
  );

  const showRange = useCallback(
    (range: { from: string; to: string | null }) => change({ ...range, peek: null }),
    [change],
  );
  const isHidden = hiddenWords(addHidden(state.hidden.listed, state.hidden.arrived)) !== null;
  // Without an open match, does not search the list, which can have 100,000 items.
  const peekIndex = peek === null ? -1 : items.findIndex(({ match }) => match.id === peek);
  const peeked = useMatch(peek, items[peekIndex], isListed);
  const relevance = useRelevance(dispatch);
  usePeekKeys({
    items,
    peek,
    show,
    label: (label) => peeked.item && relevance.toggleLabel(peeked.item.match, label),
  });
  const showNew = () => {
    show(null);
    if (isGrouped) {
      restart();
      return;
    }
    setAtTop(true);
    dispatch({ type: 'paused', isPaused: false });
    document.querySelector(`.${styles.list}`)?.scrollTo({ top: 0 });
  };
  return (
    <Screen
      title="Feed"
      fills
      actions={
        <>
          <LiveStatus
            connection={connection}
            isPaused={isPaused && !isGrouped}
            disconnected={disconnected}
            receiving={isLoaded ? receivingState(selected, query.platform) : null}
            freshCount={freshCount}
            onShowNew={showNew}
          />
          <FeedFilters query={query} rules={rules} onChange={change} />
          <ExportButton query={query} />
        </>
      }
    >
      {rules.length > 0 && <FeedHistogram query={query} onRange={showRange} />}
      {error && <ErrorNote error={error} onRetry={restart} />}
      <RelevanceNotes
        actions={relevance}
        hidden={state.hidden}
        isShown={query.hidden === 'include'}
        onShow={(isShown) => change({ hidden: isShown ? 'include' : null, group: null })}
        onRestart={restart}
      />
      {!isListed && items.length === 0 && !error && <Loading />}
      {isListed && items.length === 0 && !isHidden && <SilenceNote query={query} rules={rules} />}
      {(items.length > 0 || peek !== null) && (
        <div className={styles.columns} data-peek={peek !== null}>
          <MatchList
            items={items}
            peekIndex={peekIndex}
            ruleNames={ruleNames}
            filter={query.relevance}
            onPeek={show}
            onNearEnd={setWantsOlder}
            onScrolled={setAtTop}
          />
          {peek !== null && (
            <Peek
              {...peeked}
              rule={rules.find(({ id }) => id === peeked.item?.match.rule_id)}
              relevance={relevance}
              story={peeked.item?.match.story ?? keptStory}
              onOpen={show}
              onClose={() => show(null)}
            />
          )}
        </div>
      )}
    </Screen>
  );
}

interface PeekKeys {
  readonly items: readonly FeedItem[];
  readonly peek: string | null;
  readonly show: (id: string | null) => void;
  readonly label: (label: LabelName) => void;
}

function usePeekKeys({ items, peek, show, label }: PeekKeys): void {
  const step = (by: number) => {
    const at = items.findIndex(({ match }) => match.id === peek);
    const next = items[at === -1 ? 0 : at + by];
    if (next) show(next.match.id);
  };
  useShortcuts('Feed', [
    { keys: 'j', label: 'Next match', run: () => step(1) },
    { keys: 'k', label: 'Previous match', run: () => step(-1) },
    { keys: '+', label: 'Label the match relevant, or remove the label', run: () => label('relevant') },
    {
      keys: '-',
      label: 'Label the match not relevant, or remove the label',
      run: () => label('not_relevant'),
    },
    { keys: 'Escape', label: 'Close the match', run: () => show(null) },
  ]);
}
