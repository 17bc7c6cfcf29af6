import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { type WindowName, windowMs } from './windows.ts';

/** What was heard for the rule, or for all of the account; the window ends when the server answers. */
export function useCoverage(name: WindowName, ruleId?: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['getCoverage', name, ruleId ?? null],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - windowMs[name]).toISOString();
      const answer = await api.getCoverage(
        { from, ...(ruleId !== undefined && { rule_id: ruleId }) },
        { signal },
      );
      const to = Date.parse(answer.to);
      return { ...answer, window: { from: to - windowMs[name], to } };
    },
    // A key on the free plan has 60 requests a minute, and there is a line for each rule.
    refetchInterval: ruleId === undefined ? 30_000 : 120_000,
  });
}

export type CoverageAnswer = NonNullable<ReturnType<typeof useCoverage>['data']>;
