import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { type WindowName, windowMs } from './windows.ts';

/** The coverage of the whole account. The window ends at the time of the server. */
export function useCoverage(name: WindowName) {
  return useRead(name, undefined, []);
}

/**
 * The coverage of a rule. A key on the free plan may send 60 requests per minute, so this is read again when the coverage of the
 * platforms has changed, and otherwise every two minutes.
 */
export function useRuleCoverage(name: WindowName, ruleId: string) {
  const platforms = useCoverage(name).data?.intervals ?? [];
  const changes = platforms.map(({ platform, state, repair }) => `${platform} ${state} ${repair?.state}`);
  return useRead(name, ruleId, changes);
}

function useRead(name: WindowName, ruleId: string | undefined, changes: readonly string[]) {
  const api = useApi();
  return useQuery({
    queryKey: ['getCoverage', name, ruleId ?? null, changes],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - windowMs[name]).toISOString();
      const answer = await api.getCoverage(
        { from, ...(ruleId !== undefined && { rule_id: ruleId }) },
        { signal },
      );
      const to = Date.parse(answer.to);
      return { ...answer, window: { from: to - windowMs[name], to } };
    },
    refetchInterval: ruleId === undefined ? 30_000 : 120_000,
  });
}

export type CoverageAnswer = NonNullable<ReturnType<typeof useCoverage>['data']>;
