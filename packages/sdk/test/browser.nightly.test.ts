import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { skipUnless } from '../../testkit/src/vitest-skips.ts';
import { type ReceivedRequest, startAnsweringServer } from './answering-server.ts';

const chromium = '/usr/bin/chromium';

/** Follows two matches over an interruption, and then refuses an unsigned webhook. */
const page = `<!doctype html><title>SDK</title><p></p><script type="module">
  import { createEarshot, verifyWebhook } from '/sdk.js';
  const earshot = createEarshot({ url: location.origin, key: 'esk_1' });
  const ids = [];
  for await (const { id } of earshot.followMatches()) if (ids.push(id) === 2) break;
  const now = Math.floor(Date.now() / 1000);
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': String(now), 'webhook-signature': 'v1,AAAA' };
  const error = await verifyWebhook({ secret: 'whsec_AAAA', headers, body: '{}' }).catch((reason) => reason);
  document.querySelector('p').textContent = ids.join() + ' ' + error.name;
</script>`;

test('runs in a browser (if there is a Chromium)', {
  timeout: 60_000,
  ...skipUnless('chromium', existsSync(chromium) ? null : `no ${chromium}`),
}, async () => {
  const bundle = await rolldown({
    input: join(import.meta.dirname, '../src/index.ts'),
    platform: 'browser',
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  let streams = 0;
  const answer = (response: ServerResponse, { url }: ReceivedRequest) => {
    const send = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body);
    if (url === '/') send('text/html', page);
    else if (url === '/sdk.js') send('text/javascript', output[0].code);
    else if (url === '/matches/stream') {
      streams += 1;
      send(
        'text/event-stream',
        `retry: 5\n\nid: c${streams}\nevent: match\ndata: {"id":"mat_${streams}"}\n\n`,
      );
    } else response.writeHead(404).end();
  };
  await using server = await startAnsweringServer(answer);
  const profile = await mkdtemp(join(tmpdir(), 'earshot-chromium-'));
  try {
    const options = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`];
    const once = ['--virtual-time-budget=10000', '--dump-dom', server.url];
    const { stdout } = await promisify(execFile)(chromium, [...options, ...once]);
    expect(stdout).toContain('<p>mat_1,mat_2 WebhookVerificationError</p>');
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
