import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api.tsx';
import { startOfDay } from './usage.ts';

export const spanLabels = { '7': '7 days', '30': '30 days', '90': '90 days' } as const;
export type SpanName = keyof typeof spanLabels;

export function isSpanName(name: string | null): name is SpanName {
  return name !== null && Object.hasOwn(spanLabels, name);
}

const dayMs = 86_400_000;

/** Matches and costs of the last UTC days, including today. */
export function useUsage(by: 'day' | 'rule', span: SpanName, ruleId: string | null) {
  const api = useApi();
  return useQuery({
    queryKey: ['getUsage', by, span, ruleId],
    queryFn: async ({ signal }) => {
      const to = Date.now();
      const from = startOfDay(to) - (Number(span) - 1) * dayMs;
      const answer = await api.getUsage(
        {
          by,
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          ...(ruleId !== null && { rule_id: ruleId }),
        },
        { signal },
      );
      return { ...answer, window: { from, to } };
    },
    refetchInterval: 60_000,
  });
}
