import {
  createEarshot,
  type Earshot,
  EarshotError,
  verifyWebhook,
  WebhookVerificationError,
} from '../../src/index.ts';
import type { Step } from './scenario.ts';

/** Does the steps with the TypeScript SDK, and returns what it observes. `sdks/python/test/driver.py` is its counterpart. */
export async function drive(url: string, steps: readonly Step[]): Promise<unknown[]> {
  const observed: unknown[] = [];
  const earshot = createEarshot({ url, key: 'esk_test' });
  for (const step of steps) {
    try {
      await take(step, earshot, (one) => void observed.push(one));
    } catch (error) {
      observed.push(describeError(error));
    }
  }
  return observed;
}

async function take(step: Step, earshot: Earshot, report: (observed: unknown) => void): Promise<void> {
  const listeners = {
    onRemoved: async ({ match_id: id }: { match_id: string }) => {
      await Promise.resolve();
      report({ removed: id });
    },
    onRestored: ({ code, details }: EarshotError) =>
      report({ restored: code, cursor: details.oldest_cursor }),
  };
  switch (step.do) {
    case 'call': {
      const { operation, request, ...options } = step;
      const name = `${operation.charAt(0).toLowerCase()}${operation.slice(1)}`;
      const methods: Record<string, (request: object, options: object) => Promise<unknown>> = {
        ...earshot,
      } as never;
      report({ answer: await methods[name]?.(request, options) });
      return;
    }
    case 'follow': {
      const { what, request, takes, ignoresRemovals = false, silenceMsMax } = step;
      const options = { silenceMsMax, ...(!ignoresRemovals && listeners) };
      const items =
        what === 'matches'
          ? earshot.followMatches(request, options)
          : earshot.followNotices(request, options);
      for (const count of takes) {
        let left = count;
        for await (const { id } of items) {
          report({ item: id, cursor: items.cursor });
          left -= 1;
          if (left === 0) break;
        }
      }
      return;
    }
    case 'consume': {
      let left = step.take ?? Number.POSITIVE_INFINITY;
      const request = { reader: 'r', ...step.request };
      for await (const { id } of earshot.consumeMatches(request, { untilEmpty: true, ...listeners })) {
        report({ item: id });
        left -= 1;
        if (left === 0) break;
      }
      return;
    }
    case 'connect':
      createEarshot({ url: step.url as string });
      return;
    case 'verify': {
      const { secret, headers, body, isParsed = false, nowSeconds } = step;
      const bytes = isParsed ? JSON.parse(body) : new TextEncoder().encode(body);
      const { id, message } = await verifyWebhook({
        secret,
        headers: new Headers(headers),
        body: bytes,
        now: nowSeconds * 1_000,
      });
      report({ verified: id, message });
    }
  }
}

function describeError(error: unknown): unknown {
  if (error instanceof EarshotError) {
    const { code, message, details, requestId = null, status, retryable, retryAfterMs = null } = error;
    const reason = details.reason ?? null;
    return { error: { code, message, reason, details, requestId, status, retryable, retryAfterMs } };
  }
  if (error instanceof WebhookVerificationError) return { unverified: error.message };
  return { mistake: String(Object(error).message) };
}
