import { useMutation, useQuery } from '@tanstack/react-query';
import { callConsole, errorMessageOf } from '../../api/console-call.ts';

/** The request of a program for access to an account. */
export interface AuthorizationRequest {
  /** The program chose all of it except `redirect_host`, which receives the access. */
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

// The path is below the page's, because the cookie that binds the request to this browser is sent only there.
const pathOf = (id: string) => `/console/authorize/${encodeURIComponent(id)}`;

export function useAuthorizationRequest(id: string) {
  return useQuery({
    queryKey: ['authorization', id],
    queryFn: async (): Promise<AuthorizationRequest> => {
      const answer = await callConsole('GET', `${pathOf(id)}/request`);
      if (!answer.ok) throw new Error(await errorMessageOf(answer));
      return answer.json();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Sends the decision, then redirects the browser to the program. */
export function useDecision(id: string) {
  return useMutation({
    mutationFn: async (decision: Decision) => {
      const answer = await callConsole('POST', `${pathOf(id)}/decision`, decision);
      if (!answer.ok) throw new Error(await errorMessageOf(answer));
      const { continue_url: url }: { continue_url: string } = await answer.json();
      window.location.assign(url);
    },
  });
}
