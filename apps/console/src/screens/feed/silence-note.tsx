import type { Rule } from '@earshot/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../../api/api.tsx';
import { EmptyNote } from '../../parts/empty-note.tsx';
import { describeSilence } from './silence.ts';
import type { FeedQuery } from './use-feed.ts';

/** Replaces an empty list: says whether nothing matched or Earshot was not receiving. */
export function SilenceNote({ query, rules }: { query: FeedQuery; rules: readonly Rule[] }) {
  const api = useApi();
  const { rule_id, platform, from, to } = query;
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['coverage', rule_id, platform, from, to],
    queryFn: ({ signal }) => api.getCoverage({ rule_id, platform, from, to }, { signal }),
    refetchInterval: 5_000,
  });
  const selected = rule_id === undefined ? rules : rules.filter(({ id }) => id === rule_id);
  const { title, lines, link } = describeSilence({
    rules: selected,
    intervals: data?.intervals ?? null,
    isRange: from !== undefined || to !== undefined,
    now: new Date(dataUpdatedAt),
  });
  return (
    <EmptyNote title={title}>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {link && <Link href={link.href}>{link.label}</Link>}
    </EmptyNote>
  );
}
