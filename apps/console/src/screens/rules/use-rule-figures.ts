import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';

const hourSeconds = 3_600;
const weekHours = 7 * 24;
const pointHours = 6;

export interface RuleFigures {
  /** Matches of the last 7 days, in steps of 6 hours. */
  readonly week: readonly number[];
  readonly day: number;
}

export interface RuleCost {
  readonly min: number;
  readonly max: number;
}

/** The matches of each rule. The API counts at most 100 rules: those with the most matches. */
export function useCounts() {
  const api = useApi();
  return useQuery({
    queryKey: ['counts', 'by rule'],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, RuleFigures>> => {
      const to = Math.ceil(Date.now() / 1_000 / hourSeconds) * hourSeconds;
      const range = { from: iso(to - weekHours * hourSeconds), to: iso(to), step: hourSeconds };
      const { series } = await api.countMatches({ ...range, by: 'rule' }, { signal });
      return new Map(series.map(({ rule_id = '', counts }) => [rule_id, figuresOf(counts)]));
    },
    refetchInterval: 60_000,
  });
}

/** The cost of each rule today. A day is a UTC day, as in the API. */
export function useCosts() {
  const api = useApi();
  return useQuery({
    queryKey: ['usage', 'today by rule'],
    queryFn: async ({ signal }) => {
      const now = new Date().toISOString();
      const { usage } = await api.getUsage(
        { from: `${now.slice(0, 10)}T00:00:00.000Z`, to: now, by: 'rule' },
        { signal },
      );
      const costs = new Map<string, RuleCost>();
      for (const { rule_id = '', usd } of usage) {
        const { min, max } = costs.get(rule_id) ?? { min: 0, max: 0 };
        costs.set(rule_id, { min: min + usd.min, max: max + usd.max });
      }
      return costs;
    },
    refetchInterval: 60_000,
  });
}

function figuresOf(hours: readonly number[]): RuleFigures {
  const week = Array.from({ length: weekHours / pointHours }, (_, index) =>
    hours.slice(index * pointHours, (index + 1) * pointHours).reduce((sum, count) => sum + count, 0),
  );
  return { week, day: hours.slice(-24).reduce((sum, count) => sum + count, 0) };
}

function iso(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
