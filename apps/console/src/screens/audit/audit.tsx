import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { useSession } from '../../api/session.ts';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Screen } from '../../parts/screen.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './audit.module.css';
import {
  type AuditEntry,
  type AuditFilter,
  type Change,
  changesInShort,
  changesOf,
  matchesFilter,
  targetName,
  targetPath,
} from './changes.ts';

/** Who changed what, and when. */
export function Audit() {
  const [params, setParams] = useSearchParams();
  const filter: AuditFilter = {
    actor: params.get('actor') ?? '',
    operation: params.get('operation') ?? '',
    target: params.get('target') ?? '',
  };
  const { data, error, refetch, ...pages } = useAudit();
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  const shown = entries.filter((entry) => matchesFilter(entry, filter));
  const isFiltered = Object.values(filter).some((part) => part !== '');
  const change = (part: Partial<AuditFilter>) => {
    const next = Object.entries({ ...filter, ...part }).filter(([, value]) => value !== '');
    setParams(new URLSearchParams(next), { replace: true });
  };
  return (
    <Screen title="Audit" actions={<Filters entries={entries} filter={filter} onChange={change} />}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="Reading the audit" />}
      {data && isFiltered && (
        <output className={styles.quiet}>
          {shown.length.toLocaleString()} of the {entries.length.toLocaleString()} latest changes
          {pages.hasNextPage
            ? '. Older ones are not searched before “Show more” has read them.'
            : ', which are all that are kept.'}
        </output>
      )}
      {data && entries.length === 0 && (
        <EmptyNote title="Nothing was changed yet.">
          <p>Every change of a rule, a key or a webhook is recorded here, with who made it.</p>
        </EmptyNote>
      )}
      {entries.length > 0 && shown.length === 0 && <EmptyNote title="No loaded entry matches the filter." />}
      {shown.length > 0 && <AuditTable entries={shown} />}
      <More pages={pages} />
    </Screen>
  );
}

function useAudit() {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: ['listAudit'],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      api.listAudit({ limit: 100, ...(pageParam !== null && { cursor: pageParam }) }, { signal }),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

function Filters({
  entries,
  filter,
  onChange,
}: {
  entries: readonly AuditEntry[];
  filter: AuditFilter;
  onChange: (part: Partial<AuditFilter>) => void;
}) {
  return (
    <>
      <Pick
        label="Who"
        every="Everybody"
        value={filter.actor}
        options={entries.map(({ actor }) => actor)}
        onChange={(actor) => onChange({ actor })}
      />
      <Pick
        label="What"
        every="Every change"
        value={filter.operation}
        options={entries.map(({ operation }) => operation)}
        onChange={(operation) => onChange({ operation })}
      />
      <input
        type="search"
        aria-label="Part of the id that was changed"
        placeholder="rule_…, key_…, whk_…"
        value={filter.target}
        onChange={({ target }) => onChange({ target: target.value.trim() })}
      />
    </>
  );
}

function Pick({
  label,
  every,
  value,
  options,
  onChange,
}: {
  label: string;
  every: string;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
}) {
  const distinct = [...new Set([...options, ...(value === '' ? [] : [value])])].toSorted();
  return (
    <select
      className={styles.pick}
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">{every}</option>
      {distinct.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  );
}

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  const ownKey = useSession().data?.key_id;
  return (
    <Table label="Changes">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">On</th>
          <th scope="col">Changed</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id}>
            <td className={styles.time}>
              <Time at={entry.created_at} />
            </td>
            <td>
              {entry.actor === ownKey ? (
                <span title={entry.actor}>your key</span>
              ) : (
                <code>{entry.actor}</code>
              )}
            </td>
            <td>{entry.operation}</td>
            <td>
              <Target entry={entry} />
            </td>
            <td>
              <Changes entry={entry} />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Target({ entry }: { entry: AuditEntry }) {
  const path = targetPath(entry.target_id);
  const id = <code className={styles.id}>{entry.target_id}</code>;
  const name = targetName(entry);
  return (
    <>
      {name !== null && (
        <div>
          <StrangersText text={name} />
        </div>
      )}
      {path === null ? id : <Link href={path}>{id}</Link>}
    </>
  );
}

function Changes({ entry }: { entry: AuditEntry }) {
  const changes = changesOf(entry);
  return (
    <details className={styles.changes}>
      <summary>
        <StrangersText text={changesInShort(changes)} />
      </summary>
      <dl>
        {changes.map((change) => (
          <ChangedField key={change.field} change={change} />
        ))}
        {entry.request_id !== null && (
          <>
            <dt>Request</dt>
            <dd>
              <code>{entry.request_id}</code>
            </dd>
          </>
        )}
      </dl>
    </details>
  );
}

function ChangedField({ change: { field, before, after } }: { change: Change }) {
  return (
    <>
      <dt>{field}</dt>
      <dd>
        {before !== null && (
          <del>
            <StrangersText text={before} />
          </del>
        )}{' '}
        {after !== null && (
          <ins>
            <StrangersText text={after} />
          </ins>
        )}
      </dd>
    </>
  );
}
