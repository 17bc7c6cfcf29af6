import { createEarshot, type Earshot, EarshotError } from '@earshot/sdk';
import { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { noteRefusal } from './session.ts';

/** A person waits: better an error with a button than a minute of nothing. */
const timeoutMs = 15_000;
/** How soon a question is asked again that the server could not answer. */
const retryMs = 5_000;

/**
 * The public API, by the session's cookie: the server takes it only from its own pages, which this header shows. The SDK
 * retries and reconnects silently; `onAnswer` is told the status of every answer, and 0 when there was none or its stream
 * broke.
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
        if (answer.status === 401) noteRefusal();
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

/** The same answer. A stream never ends by itself: when it does, the server went away. */
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
        // The SDK retries by itself, until it tells; what was told is mended without a hand as well.
        retry: false,
        refetchInterval: ({ state }) => isPassing(state.error) && retryMs,
        staleTime: 5_000,
      },
      mutations: { retry: false },
    },
  });
}

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  return error instanceof EarshotError && error.retryable;
}

const ApiContext = createContext<Earshot | null>(null);
export const ApiProvider = ApiContext.Provider;

export function useApi(): Earshot {
  const api = useContext(ApiContext);
  if (!api) throw new Error('there is no ApiProvider above');
  return api;
}
