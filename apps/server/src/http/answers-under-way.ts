import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface AnswersUnderWay {
  /** Resolves when the last answer is out, at the latest after `withinMs`. */
  finished(withinMs: number): Promise<void>;
}

/**
 * Which requests are being answered. The server's own idea of an idle connection leaves out those that have not
 * sent anything yet, and one of them would hold a shutdown up for a minute.
 */
export function trackAnswers(server: Server): AnswersUnderWay {
  const underWay = new Set<ServerResponse>();
  const waiting = new Set<() => void>();
  server.on('request', (_request, response) => {
    underWay.add(response);
    response.once('close', () => {
      underWay.delete(response);
      if (underWay.size === 0) for (const wake of waiting) wake();
    });
  });
  return {
    async finished(withinMs) {
      if (underWay.size === 0) return;
      const patience = new AbortController();
      const allOut = new Promise<void>((resolve) => waiting.add(resolve));
      await Promise.race([allOut, sleep(withinMs, null, { signal: patience.signal }).catch(() => null)]);
      patience.abort();
    },
  };
}
