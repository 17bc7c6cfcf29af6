import { unhidden } from '@earshot/mcp/visible';
import type { Rule } from '@earshot/sdk';
import { useQuery } from '@tanstack/react-query';
import { useApi } from './api.tsx';
import { disconnectedPlatforms } from './disconnected.ts';

export const rulesKey = ['rules'];
const refreshMs = 15_000;
/** Shorter while a source does not receive, so that the end of an outage is seen soon. */
const outageRefreshMs = 5_000;

/**
 * All rules of the account, newest first. Hidden characters in names and intents are made visible: an agent that
 * was manipulated may have put them there.
 */
export function useRules() {
  const api = useApi();
  return useQuery({
    queryKey: rulesKey,
    queryFn: async ({ signal }): Promise<readonly Rule[]> => {
      const { rules } = await api.listRules({}, { signal });
      return rules.map((rule) => ({ ...rule, name: unhidden(rule.name), intent: unhidden(rule.intent) }));
    },
    refetchInterval: ({ state }) =>
      disconnectedPlatforms(state.data ?? []).length > 0 ? outageRefreshMs : refreshMs,
  });
}
