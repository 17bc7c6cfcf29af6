import type { Rule } from '@earshot/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { summarise } from '../coverage/intervals.ts';
import { laneWords } from '../coverage/lane-words.ts';
import { Strip } from '../coverage/strip.tsx';
import styles from './rules.module.css';

const dayMs = 86_400_000;

/** The coverage of a rule in the last 24 hours, one timeline per platform. */
export function CoverageStrip({ rule: { id: ruleId, platforms } }: { rule: Rule }) {
  const api = useApi();
  // An outage that the row shows begins in the timeline at the same time.
  const listening = Object.values(platforms).map((platform) => platform?.listening.state);
  const { data, error } = useQuery({
    queryKey: ['coverage', ruleId, 'day', listening],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const to = Date.now();
      const window = { from: to - dayMs, to };
      const from = new Date(window.from).toISOString();
      const { intervals } = await api.getCoverage({ rule_id: ruleId, from }, { signal });
      return { window, platforms: [...Map.groupBy(intervals, ({ platform }) => platform)] };
    },
    staleTime: 60_000,
    refetchInterval: 60_000,
  });
  if (error) return <span className={styles.quiet}>unknown</span>;
  return (
    <div className={styles.strips}>
      {data?.platforms.map(([platform, intervals]) => {
        const summary = summarise(intervals, data.window);
        const words = `${platformNames[platform]}: ${laneWords(intervals, summary, new Date(data.window.to))}`;
        return (
          <div key={platform} role="img" aria-label={words} title={words}>
            <Strip intervals={intervals} window={data.window} />
          </div>
        );
      })}
    </div>
  );
}
