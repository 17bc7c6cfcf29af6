import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { type WindowName, windowMs } from './windows.ts';

/** The coverage of a rule, or of the whole account. The window ends at the time of the server. */
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
    // A key on the free plan may send 60 requests per minute, and each rule needs its own request.
    refetchInterval: ruleId === undefined ? 30_000 : 120_000,
  });
}

export type CoverageAnswer = NonNullable<ReturnType<typeof useCoverage>['data']>;
