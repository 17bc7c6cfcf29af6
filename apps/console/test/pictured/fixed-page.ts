import { once } from 'node:events';
import { createServer } from 'node:http';
import { listenOnLoopback } from '@earshot/testkit';
import type { Page, Route } from 'playwright-core';
import type { FixedAnswers } from './answers.ts';
import { now } from './time.ts';

/** A server whose streams stay open without events. Playwright cannot do this, because its answers end at once. */
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
  message: 'Earshot has failed. Try again later.',
  details: { request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg' },
};

/**
 * Replaces the server's answers with the given ones and stops the clock of the page. The returned function waits until the
 * page has drawn the answers of all its requests.
 */
export async function fixPage(
  page: Page,
  answers: FixedAnswers,
  streamsUrl: string,
): Promise<() => Promise<void>> {
  const requests = { made: 0, open: 0 };
  await page.clock.setFixedTime(now);
  await page.route(isApiRequest, async (route) => {
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

/** Whether the request is for data, not for a page or its files. */
function isApiRequest({ pathname }: URL): boolean {
  return pathname.startsWith('/api.') || /^\/(console|matches|notices)(\/|$)/.test(pathname);
}

async function answerFixed(route: Route, answers: FixedAnswers, streamsUrl: string): Promise<void> {
  const request = route.request();
  const { pathname } = new URL(request.url());
  // The path can be that of a screen as well as of an operation.
  if (request.isNavigationRequest()) return route.fallback();
  if (pathname.endsWith('/stream')) return route.continue({ url: streamsUrl });
  const make = answers[pathname];
  if (!make) throw new Error(`the pictures have no answer for ${pathname}`);
  if (make === 'never') return;
  if (make === 'failure') return route.fulfill({ status: 500, json: failure });
  if (make === 'not_found') return route.fulfill({ status: 404, json: { ...failure, code: 'not_found' } });
  // The type of the request depends on the path.
  const body = (request.method() === 'POST' ? request.postDataJSON() : {}) as never;
  return route.fulfill({ json: make(body) });
}
