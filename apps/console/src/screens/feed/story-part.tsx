import type { Match } from '@earshot/sdk';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './feed.module.css';
import { reasonWords, sizeWords } from './story-words.ts';

const listedMax = 50;

/** The other matches of the story, each with the reason why it is in it. */
export function StoryPart({
  story,
  current,
  onOpen,
}: {
  story: NonNullable<Match['story']>;
  current: string;
  onOpen: (matchId: string) => void;
}) {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['story', story.id, story.matches],
    queryFn: ({ signal }) => api.listMatches({ story_id: story.id, limit: listedMax }, { signal }),
  });
  const size = sizeWords(story);
  if (size === null) return null;
  return (
    <section className={styles.story}>
      <h3>Story: {size}</h3>
      {error && <ErrorNote error={error} />}
      <ol className={styles.members}>
        {data?.matches.map((match) => (
          <li key={match.id}>
            <button type="button" aria-pressed={match.id === current} onClick={() => onOpen(match.id)}>
              <span className={styles.meta}>
                <Time at={match.created_at} />
                <span className={styles.platform}>{platformNames[match.platform]}</span>
                {match.story && <span>{reasonWords[match.story.because]}</span>}
              </span>
              <span className={styles.member}>
                <UntrustedText text={match.payload.title ?? match.payload.text ?? match.payload.url ?? ''} />
              </span>
            </button>
          </li>
        ))}
      </ol>
      {data?.next_cursor && <p className={styles.quiet}>The newest {listedMax} are listed.</p>}
    </section>
  );
}
