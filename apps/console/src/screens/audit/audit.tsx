import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { useSession } from '../../api/session.ts';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { More } from '../../parts/more.tsx';
import { Screen } from '../../parts/screen.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { UntrustedText } from '../../parts/untrusted-text.tsx';
import styles from './audit.module.css';
import {
  type AuditEntry,
  type AuditFilter,
  type Change,
  changesOf,
  matchesFilter,
  summariseChanges,
  targetName,
  targetPath,
} from './changes.ts';

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
      {!data && !error && <Loading what="Loading the audit log" />}
      {data && isFiltered && (
        <output className={styles.quiet}>
          {shown.length.toLocaleString()} of the {entries.length.toLocaleString()} latest changes
          {pages.hasNextPage
            ? '. To search older changes, choose “Show more”.'
            : '. There are no older ones.'}
        </output>
      )}
      {data && entries.length === 0 && (
        <EmptyNote title="No changes yet.">
          <p>The audit log records every change of a rule, key or webhook, and which key made it.</p>
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
      <FilterSelect
        label="Actor"
        all="All actors"
        value={filter.actor}
        options={entries.map(({ actor }) => actor)}
        onChange={(actor) => onChange({ actor })}
      />
      <FilterSelect
        label="Operation"
        all="All operations"
        value={filter.operation}
        options={entries.map(({ operation }) => operation)}
        onChange={(operation) => onChange({ operation })}
      />
      <input
        type="search"
        aria-label="Part of the target id"
        placeholder="rule_…, key_…, whk_…"
        value={filter.target}
        onChange={({ target }) => onChange({ target: target.value.trim() })}
      />
    </>
  );
}

function FilterSelect({
  label,
  all,
  value,
  options,
  onChange,
}: {
  label: string;
  all: string;
  value: string;
  options: readonly string[];
  onChange: (value: string) => void;
}) {
  const distinct = [...new Set([...options, ...(value === '' ? [] : [value])])].toSorted();
  return (
    <select
      className={styles.select}
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">{all}</option>
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
          <th scope="col">Time</th>
          <th scope="col">Actor</th>
          <th scope="col">Operation</th>
          <th scope="col">Target</th>
          <th scope="col">Changes</th>
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
          <UntrustedText text={name} />
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
        <UntrustedText text={summariseChanges(changes)} />
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
            <UntrustedText text={before} />
          </del>
        )}{' '}
        {after !== null && (
          <ins>
            <UntrustedText text={after} />
          </ins>
        )}
      </dd>
    </>
  );
}
