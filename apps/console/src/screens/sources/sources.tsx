import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { Screen } from '../../parts/screen.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import { type Source, sourceStateWords, statusOf } from '../coverage/words.ts';
import styles from './sources.module.css';

/** Lists the connections to the platforms, and what to do if one does not receive. */
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
      {!error && !data && <Loading what="Loading the sources" />}
      {data && <SourceTable sources={data.sources} />}
    </Screen>
  );
}

function SourceTable({ sources }: { sources: readonly Source[] }) {
  if (sources.length === 0)
    return (
      <EmptyNote title="There are no sources.">
        <p>
          The operator has not configured a token for any platform, so Earshot cannot receive anything. Ask
          the operator to add one.
        </p>
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
            <th scope="col">Received until</th>
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
        To see missed periods, open <Link href="/coverage">coverage</Link>.
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
        <StatusMark kind={statusOf(state)}>
          {sourceStateWords[state]} <code className={styles.quiet}>{state}</code>
        </StatusMark>
      </td>
      <td>
        <Time at={since} />
      </td>
      <td>{received_until === null ? 'never' : <Time at={received_until} />}</td>
      <td className={styles.todo}>
        {what_to_do}
        {message !== undefined && (
          <blockquote className={styles.problem}>
            <span className={styles.quiet}>Details:</span> <UntrustedText text={message} />
          </blockquote>
        )}
      </td>
    </tr>
  );
}

function overview(sources: readonly Source[]): string {
  const bad = sources.filter(({ state }) => statusOf(state) === 'bad').length;
  if (bad > 0)
    return `${bad} of ${sources.length} sources ${bad === 1 ? 'does not receive and needs' : 'do not receive and need'} attention.`;
  const live = sources.filter(({ state }) => state === 'live').length;
  return live === sources.length
    ? 'All sources are receiving.'
    : `${live} of ${sources.length} sources are receiving. No action is needed.`;
}
