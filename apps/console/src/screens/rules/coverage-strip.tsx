import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { platformNames } from '../../parts/platforms.ts';
import { summarise } from '../coverage/intervals.ts';
import { laneWords } from '../coverage/lane-words.ts';
import { Strip } from '../coverage/strip.tsx';
import styles from './rules.module.css';

const dayMs = 86_400_000;

/** The last 24 hours of a rule, one line per platform: heard, gap, repaired, not watched. */
export function CoverageStrip({ ruleId }: { ruleId: string }) {
  const api = useApi();
  const { data, error } = useQuery({
    queryKey: ['coverage', ruleId, 'day'],
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
        const told = laneWords(intervals, summarise(intervals, data.window), new Date(data.window.to));
        const words = `${platformNames[platform]}: ${told}`;
        return (
          <div key={platform} role="img" aria-label={words} title={words}>
            <Strip intervals={intervals} window={data.window} />
          </div>
        );
      })}
    </div>
  );
}
