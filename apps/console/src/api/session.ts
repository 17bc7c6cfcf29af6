import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { callConsole, errorMessageOf } from './console-call.ts';

export interface Session {
  readonly account_id: string;
  readonly account_name: string;
  readonly key_id: string;
  readonly scopes: readonly string[];
  readonly expires_at: string;
}

export const sessionKey = ['session'];
const path = '/console/session';
const retryMs = 3_000;

/** Gets an event when the API refuses the session: its key was revoked, it expired, or the user signed out in another tab. */
const refusals = new EventTarget();

export function reportUnauthenticated(): void {
  refusals.dispatchEvent(new Event('refused'));
}

/** Null if the user is not signed in. */
export function useSession() {
  const queries = useQueryClient();
  useEffect(() => {
    const refresh = () => void queries.invalidateQueries({ queryKey: sessionKey });
    refusals.addEventListener('refused', refresh);
    return () => refusals.removeEventListener('refused', refresh);
  }, [queries]);
  return useQuery({
    queryKey: sessionKey,
    queryFn: readSession,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => state.error !== null && retryMs,
  });
}

export function useSignIn(onSignedIn: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (proof: { key: string } | { code: string }) => signIn(proof),
    onSuccess: (session) => {
      setSession(queries, session);
      onSignedIn();
    },
  });
}

/** The name of the account to which a sign-in link signs in. */
export function useLinkAccount(code: string | null) {
  return useQuery({
    queryKey: ['link', code],
    queryFn: async (): Promise<string> => {
      const answer = await callConsole('POST', '/console/links/account', { code });
      if (!answer.ok) throw new Error(await errorMessageOf(answer));
      return Object(await answer.json()).account_name;
    },
    enabled: code !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const answer = await callConsole('DELETE', path);
      if (!answer.ok && answer.status !== 401) throw new Error(await errorMessageOf(answer));
    },
    onSuccess: () => setSession(queries, null),
  });
}

/** Replaces the session and clears the data of the previous account. The session query stays, because `Gate` observes it. */
function setSession(queries: QueryClient, session: Session | null): void {
  queries.setQueryData(sessionKey, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  // Drafts of rules.
  sessionStorage.clear();
}

export async function readSession(): Promise<Session | null> {
  const answer = await callConsole('GET', path);
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(await errorMessageOf(answer));
  return answer.json();
}

async function signIn(proof: object): Promise<Session> {
  const answer = await callConsole('POST', path, proof);
  if (!answer.ok) throw new Error(await errorMessageOf(answer));
  return answer.json();
}

/** Whether the key of the session may do this. The server checks it in any case. */
export function useHasScope(scope: string): boolean {
  return useSession().data?.scopes.includes(scope) === true;
}
