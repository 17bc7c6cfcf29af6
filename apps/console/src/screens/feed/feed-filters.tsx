import type { Rule } from '@earshot/sdk';
import { Button } from '../../parts/button.tsx';
import { formatTime } from '../../parts/format.ts';
import { platformNames, platforms } from '../../parts/platforms.ts';
import styles from './feed.module.css';
import type { FeedQuery } from './use-feed.ts';

export function FeedFilters({
  query,
  rules,
  onChange,
}: {
  query: FeedQuery;
  rules: readonly Rule[];
  onChange: (changes: Readonly<Record<string, string | null>>) => void;
}) {
  const { rule_id = '', platform = '', relevance = '', from, to, group } = query;
  return (
    <>
      <select
        aria-label="Rule"
        className={styles.ruleFilter}
        value={rule_id}
        onChange={({ target }) => onChange({ rule: target.value || null, peek: null })}
      >
        <option value="">All rules</option>
        {rules.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Platform"
        value={platform}
        onChange={({ target }) => onChange({ platform: target.value || null, peek: null })}
      >
        <option value="">All platforms</option>
        {platforms.map((id) => (
          <option key={id} value={id}>
            {platformNames[id]}
          </option>
        ))}
      </select>
      <select
        aria-label="Relevance"
        value={relevance}
        onChange={({ target }) => onChange({ relevance: target.value || null, peek: null })}
      >
        <option value="">Any relevance</option>
        <option value="not_irrelevant">Without not relevant</option>
        <option value="relevant">Only relevant</option>
      </select>
      <label className={styles.toggle}>
        <input
          type="checkbox"
          checked={group === 'story'}
          onChange={({ target }) =>
            onChange({ group: target.checked ? 'story' : null, hidden: null, peek: null })
          }
        />
        Group by story
      </label>
      {(from !== undefined || to !== undefined) && (
        <Button onClick={() => onChange({ from: null, to: null, peek: null })}>
          {from === undefined ? '…' : formatTime(from)} – {to === undefined ? 'now' : formatTime(to)} ×
          <span className={styles.visuallyHidden}> Show all times</span>
        </Button>
      )}
    </>
  );
}
