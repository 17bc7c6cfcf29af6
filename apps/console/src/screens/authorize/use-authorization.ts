import { useMutation, useQuery } from '@tanstack/react-query';
import { callConsole, problemOf } from '../../api/console-call.ts';

/** What a program asks for before it may use an account. */
export interface AuthorizationRequest {
  /** The program's own words, but for the host: that is where the answer goes. */
  readonly client: {
    readonly id: string;
    readonly name: string;
    readonly uri: string | null;
    readonly redirect_host: string;
  };
  readonly scopes: readonly string[];
  readonly account: { readonly id: string; readonly name: string };
  readonly expires_at: string;
}

export interface Decision {
  readonly decision: 'allow' | 'refuse';
  readonly scopes?: readonly string[];
  readonly budget_usd_per_day?: number | null;
}

// Under the address of the page: the cookie that ties the request to this browser is sent nowhere else.
const pathOf = (id: string) => `/console/authorize/${encodeURIComponent(id)}`;

export function useAuthorizationRequest(id: string) {
  return useQuery({
    queryKey: ['authorization', id],
    queryFn: async (): Promise<AuthorizationRequest> => {
      const answer = await callConsole('GET', `${pathOf(id)}/request`);
      if (!answer.ok) throw new Error(await problemOf(answer));
      return answer.json();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Goes on to where the program waits for the answer. */
export function useDecision(id: string) {
  return useMutation({
    mutationFn: async (decision: Decision) => {
      const answer = await callConsole('POST', `${pathOf(id)}/decision`, decision);
      if (!answer.ok) throw new Error(await problemOf(answer));
      const { continue_url: url }: { continue_url: string } = await answer.json();
      window.location.assign(url);
    },
  });
}
