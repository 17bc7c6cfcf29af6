import { createEarshot, type Earshot, EarshotError } from '@earshot/sdk';
import { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { reportUnauthenticated } from './session.ts';

/** Short, because the user waits: an error with a retry button is better than a minute of silence. */
const timeoutMs = 15_000;
/** Delay before a query repeats after a temporary error. */
const retryMs = 5_000;

/**
 * A client of the public API that authenticates with the session cookie. The server accepts the cookie only with the
 * `x-earshot-console` header, which other origins cannot send. The SDK retries and reconnects silently. `onAnswer` gets the
 * status of every answer, and 0 for a request without an answer or a broken stream.
 */
export function createApi(onAnswer: (status: number) => void = () => undefined): Earshot {
  return createEarshot({
    url: window.location.origin,
    timeoutMs,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('x-earshot-console', '1');
      const onLost = () => {
        if (init?.signal?.aborted !== true) onAnswer(0);
      };
      try {
        const answer = await fetch(input, { ...init, headers, credentials: 'same-origin' });
        if (answer.status === 401) reportUnauthenticated();
        onAnswer(answer.status);
        return isStream(answer) ? watchStream(answer, onLost) : answer;
      } catch (error) {
        onLost();
        throw error;
      }
    },
  });
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** Returns an equal answer that reports the end of its stream. The server never ends a stream unless it shuts down. */
function watchStream(answer: Response, onLost: () => void): Response {
  const reader = answer.body?.getReader();
  if (!reader) return answer;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        onLost();
        controller.close();
      } catch (error) {
        onLost();
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, answer);
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The SDK has already retried. A query that still failed is repeated until the server recovers.
        retry: false,
        refetchInterval: ({ state }) => isTemporary(state.error) && retryMs,
        staleTime: 5_000,
      },
      mutations: { retry: false },
    },
  });
}

/** Whether the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  return error instanceof EarshotError && error.retryable;
}

const ApiContext = createContext<Earshot | null>(null);
export const ApiProvider = ApiContext.Provider;

export function useApi(): Earshot {
  const api = useContext(ApiContext);
  if (!api) throw new Error('useApi needs an ApiProvider');
  return api;
}
