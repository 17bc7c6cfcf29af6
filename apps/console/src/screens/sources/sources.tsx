import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { Screen } from '../../parts/screen.tsx';
import { Standing } from '../../parts/standing.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { type Source, sourceStateWords, standingOf } from '../coverage/words.ts';
import styles from './sources.module.css';

/** The connections to the platforms, and what has to be done where one is not listening. */
export function Sources() {
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['listSources'],
    queryFn: ({ signal }) => api.listSources({}, { signal }),
    refetchInterval: 10_000,
  });
  return (
    <Screen title="Sources">
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Loading what="Asking the sources" />}
      {data && <SourceTable sources={data.sources} />}
    </Screen>
  );
}

function SourceTable({ sources }: { sources: readonly Source[] }) {
  if (sources.length === 0)
    return (
      <EmptyNote title="There are no sources.">
        <p>The operator has not configured a token of any platform, so nothing can be received.</p>
      </EmptyNote>
    );
  return (
    <>
      <p>{overview(sources)}</p>
      <Table label="Sources">
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">State</th>
            <th scope="col">Since</th>
            <th scope="col">Heard until</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {sources.map((source) => (
            <SourceRow key={`${source.platform} ${source.name}`} source={source} />
          ))}
        </tbody>
      </Table>
      <p className={styles.quiet}>
        What was missed meanwhile is in <Link href="/coverage">coverage</Link>.
      </p>
    </>
  );
}

function SourceRow({
  source: { platform, name, state, since, received_until, what_to_do, message },
}: {
  source: Source;
}) {
  return (
    <tr>
      <th scope="row">
        {platformNames[platform]} <span className={styles.quiet}>{name}</span>
      </th>
      <td>
        <Standing kind={standingOf(state)}>
          {sourceStateWords[state]} <code className={styles.quiet}>{state}</code>
        </Standing>
      </td>
      <td>
        <Time at={since} />
      </td>
      <td>{received_until === null ? 'never' : <Time at={received_until} />}</td>
      <td className={styles.todo}>
        {what_to_do}
        {message !== undefined && (
          <blockquote className={styles.problem}>
            <span className={styles.quiet}>{platformNames[platform]} says:</span>{' '}
            <StrangersText text={message} />
          </blockquote>
        )}
      </td>
    </tr>
  );
}

function overview(sources: readonly Source[]): string {
  const bad = sources.filter(({ state }) => standingOf(state) === 'bad').length;
  if (bad > 0)
    return `${bad} of ${sources.length} ${bad === 1 ? 'is' : 'are'} not listening and ${bad === 1 ? 'needs' : 'need'} attention.`;
  const live = sources.filter(({ state }) => state === 'live').length;
  return live === sources.length
    ? 'All of them are listening.'
    : `${live} of ${sources.length} are listening; no action is needed.`;
}
