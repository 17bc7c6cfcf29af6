import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';
import type { Page, Route } from 'playwright-core';
import type { FixedAnswers } from './answers.ts';
import { now } from './time.ts';

/** A server of streams that are open and bring nothing: an answer of a route would end at once. */
export async function startQuietStreams(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/event-stream');
    response.write('id: c1.MTk4OTQ3MjUx.5b1f0c7e\nevent: open\ndata: {}\n\n');
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const failure = {
  code: 'internal',
  message: 'It broke.',
  details: { request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg' },
};

/**
 * The page gets these answers in place of the server's, and always has the same time. The answered function waits until
 * the page has drawn every answer that it asked for.
 */
export async function fixPage(
  page: Page,
  answers: FixedAnswers,
  streamsUrl: string,
): Promise<() => Promise<void>> {
  const requests = { made: 0, open: 0 };
  await page.clock.setFixedTime(now);
  await page.route(isAsked, async (route) => {
    requests.made++;
    requests.open++;
    await answerFixed(route, answers, streamsUrl).finally(() => requests.open--);
  });
  return async () => {
    let before: number;
    do {
      before = requests.made;
      await page.evaluate(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
      );
    } while (requests.open > 0 || before !== requests.made);
  };
}

/** What the server is asked for besides pages and their files. */
function isAsked({ pathname }: URL): boolean {
  return pathname.startsWith('/api.') || /^\/(console|matches|notices)(\/|$)/.test(pathname);
}

async function answerFixed(route: Route, answers: FixedAnswers, streamsUrl: string): Promise<void> {
  const request = route.request();
  const { pathname } = new URL(request.url());
  // A screen has the same path as its operation.
  if (request.isNavigationRequest()) return route.fallback();
  if (pathname.endsWith('/stream')) return route.continue({ url: streamsUrl });
  const make = answers[pathname];
  if (!make) throw new Error(`no picture has an answer to ${pathname}`);
  if (make === 'never') return;
  if (make === 'failure') return route.fulfill({ status: 500, json: failure });
  if (make === 'not_found') return route.fulfill({ status: 404, json: { ...failure, code: 'not_found' } });
  // Each answer knows what it is asked with.
  const asked = (request.method() === 'POST' ? request.postDataJSON() : {}) as never;
  return route.fulfill({ json: make(asked) });
}
