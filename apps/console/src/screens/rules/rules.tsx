import type { Rule } from '@earshot/sdk';
import { useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useRules } from '../../api/rules.ts';
import { useShortcuts } from '../../frame/shortcuts.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Screen } from '../../parts/screen.tsx';
import { RuleRow } from './rule-row.tsx';
import styles from './rules.module.css';
import { useCosts, useCounts } from './use-rule-figures.ts';

/** Limits the requests: each row requests its coverage. */
const rowsAtOnce = 50;

export function Rules() {
  const { data: rules, error, refetch } = useRules();
  const [filter, setFilter] = useState('');
  const [rowsMax, setRowsMax] = useState(rowsAtOnce);
  const field = useRef<HTMLInputElement>(null);
  useRuleKeys(() => field.current?.focus());
  const found = rules?.filter(({ name, intent }) => contains(`${name} ${intent}`, filter)) ?? [];
  return (
    <Screen
      title="Rules"
      actions={
        <>
          <input
            ref={field}
            type="search"
            aria-label="Filter by name"
            placeholder="Filter  /"
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
          />
          <Link href="/rules/new" className={styles.create ?? ''}>
            New rule
          </Link>
        </>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!rules && !error && <Loading />}
      {rules?.length === 0 && (
        <EmptyNote title="There are no rules yet.">
          <p>
            A rule has a query for X, Firehose or both, in the syntax of the platform. The editor checks it
            while you type.
          </p>
          <Link href="/rules/new">Create the first rule</Link>
        </EmptyNote>
      )}
      {rules && rules.length > 0 && found.length === 0 && (
        <EmptyNote title={`No name or intent of the ${rules.length} rules contains “${filter}”.`} />
      )}
      {found.length > 0 && <RuleTable rules={found.slice(0, rowsMax)} />}
      {found.length > rowsMax && (
        <Button onClick={() => setRowsMax(rowsMax + rowsAtOnce)}>
          Show more of the {found.length} rules
        </Button>
      )}
    </Screen>
  );
}

function RuleTable({ rules }: { rules: readonly Rule[] }) {
  const counts = useCounts();
  const costs = useCosts();
  return (
    <div className={styles.scroller}>
      {counts.error && <ErrorNote error={counts.error} onRetry={() => void counts.refetch()} />}
      {costs.error && <ErrorNote error={costs.error} onRetry={() => void costs.refetch()} />}
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col" className={styles.wide}>
              7 days
            </th>
            <th scope="col" className={styles.number}>
              Matches, 24 h
            </th>
            <th scope="col" className={styles.number}>
              Cost today
            </th>
            <th scope="col">Budget</th>
            <th scope="col">Coverage, 24 h</th>
            <th scope="col" className={styles.wide}>
              Last match
            </th>
            <th scope="col">
              <span className={styles.visuallyHidden}>Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => (
            <RuleRow
              key={rule.id}
              rule={rule}
              figures={counts.data && (counts.data.get(rule.id) ?? noMatches)}
              cost={costs.data?.get(rule.id)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const noMatches = { week: [0, 0], day: 0 };

function contains(text: string, part: string): boolean {
  return text.toLocaleLowerCase().includes(part.trim().toLocaleLowerCase());
}

/** `j` and `k` move the focus between the rule links; Enter opens the focused one. */
function useRuleKeys(focusFilter: () => void): void {
  const [, navigate] = useLocation();
  const step = (by: number) => {
    const links = [...document.querySelectorAll<HTMLElement>('a[data-rule]')];
    const at = links.findIndex((link) => link === document.activeElement);
    links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcuts('Rules', [
    { keys: '/', label: 'Filter', run: focusFilter },
    { keys: 'n', label: 'New rule', run: () => navigate('/rules/new') },
    { keys: 'j', label: 'Next rule', run: () => step(1) },
    { keys: 'k', label: 'Previous rule', run: () => step(-1) },
  ]);
}
