import { setTimeout as sleep } from 'node:timers/promises';

/** The two calls that the demo makes itself, as any program would make them. */
export interface DemoApi {
  createRule(rule: NewRule): Promise<void>;
  /** Every match of the account from the first on, as it arrives, over all failures. Ends when the signal aborts. */
  follow(signal: AbortSignal, onFailure: (error: unknown) => void): AsyncGenerator<DemoMatch>;
}

export interface NewRule {
  readonly name: string;
  readonly intent: string;
  readonly platforms: readonly string[];
  readonly overrides: Readonly<Record<string, string>>;
}

/** What the demo shows of a match. */
export interface DemoMatch {
  readonly created_at: string;
  readonly platform: string;
  readonly platform_post_id: string;
  readonly payload: {
    readonly title: string | null;
    readonly text: string | null;
    readonly author: { readonly name: string | null; readonly handle: string | null } | null;
  };
}

interface MatchPage {
  readonly matches: readonly DemoMatch[];
  readonly next_cursor: string;
}

const retryMs = 1_000;

export function createDemoApi({ baseUrl, key }: { baseUrl: string; key: string }): DemoApi {
  const post = async (path: string, body: object, signal?: AbortSignal): Promise<unknown> => {
    const response = await fetch(new URL(path, baseUrl), {
      method: 'POST',
      // Closed each time: after an abort, fetch would open the connection anew, and the server wait for it at its end.
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  return {
    async createRule(rule) {
      await post('/api.CreateRule', rule);
    },
    async *follow(signal, onFailure) {
      let cursor: string | undefined;
      while (!signal.aborted) {
        const request = { order: 'oldest', wait_seconds: 30, limit: 100, ...(cursor && { cursor }) };
        try {
          // The server of this same version wrote it, and its own tests hold the shape.
          const page = (await post('/matches', request, signal)) as MatchPage;
          cursor = page.next_cursor;
          yield* page.matches;
        } catch (error) {
          if (signal.aborted) return;
          onFailure(error);
          await sleep(retryMs, undefined, { signal }).catch(() => undefined);
        }
      }
    },
  };
}
