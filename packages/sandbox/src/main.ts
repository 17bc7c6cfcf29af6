import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { defaultTapToken, defaultXToken, type SandboxOptions } from './options.ts';
import { startSandbox } from './sandbox.ts';

const usage = `Usage: node packages/sandbox/src/main.ts [options]
  --host <address>      address to listen on; every client that reaches it controls the sandbox (default 127.0.0.1)
  --port <n>            port; 0 chooses a free one (default 0)
  --speed <n>           how many times faster the services' periods pass (default 1)
  --x-token <token>     an X app; repeat for several
  --tap-token <token>   a Firehose tap; repeat for several
  --x-rule-cap <n>      rules that an X app accepts (default 1000)
  --tap-rule-cap <n>    rules that a tap accepts (default no limit)
  --management-key <k>  the Firehose management key
  --rule-delay-ms <n>   real time until a rule change reaches an open X stream
  --excerpt-chars <n>   characters around a hit that a Firehose event shows (default all)
  --feed <posts,pages>  invented posts and pages per second, for example 5,1; X's counts also have a week of such posts
  --bluesky-feed <n>    invented posts per second on Bluesky
  --seed <n>            seed of the feed (default 1)
  --tls-key <file>      with --tls-cert: also by TLS on a separate port, in HTTP/2 or HTTP/1.1
  --tls-cert <file>     a certificate for localhost
  --no-rate-limits      disable the rate limits of both services`;

const { values } = parseArgs({
  options: {
    host: { type: 'string' },
    port: { type: 'string' },
    speed: { type: 'string' },
    'x-token': { type: 'string', multiple: true },
    'tap-token': { type: 'string', multiple: true },
    'x-rule-cap': { type: 'string' },
    'tap-rule-cap': { type: 'string' },
    'management-key': { type: 'string' },
    'rule-delay-ms': { type: 'string' },
    'excerpt-chars': { type: 'string' },
    feed: { type: 'string' },
    'bluesky-feed': { type: 'string' },
    seed: { type: 'string' },
    'tls-key': { type: 'string' },
    'tls-cert': { type: 'string' },
    'no-rate-limits': { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(usage);
} else {
  const sandbox = await startSandbox(readOptions());
  const { url, tlsUrl } = sandbox;
  console.log(JSON.stringify({ url, ...(tlsUrl !== null && { tls_url: tlsUrl }) }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.close());
}

function readOptions(): SandboxOptions {
  const { 'x-token': xTokens = [defaultXToken], 'tap-token': tapTokens = [defaultTapToken] } = values;
  const cap = (text: string | undefined) => (text === undefined ? {} : { ruleCap: toNumber(text) });
  const [postsPerSecond = 0, pagesPerSecond = 0] = values.feed?.split(',').map(toNumber) ?? [];
  const { 'tls-key': key, 'tls-cert': cert } = values;
  if ((key === undefined) !== (cert === undefined)) throw new RangeError('--tls-key needs --tls-cert');
  return {
    ...(values.host !== undefined && { host: values.host }),
    port: toNumber(values.port ?? '0'),
    speed: toNumber(values.speed ?? '1'),
    seed: toNumber(values.seed ?? '1'),
    feed: { postsPerSecond, pagesPerSecond },
    blueskyPostsPerSecond: toNumber(values['bluesky-feed'] ?? '0'),
    rateLimits: values['no-rate-limits'] !== true,
    xApps: xTokens.map((token) => ({ token, ...cap(values['x-rule-cap']) })),
    taps: tapTokens.map((token) => ({ token, ...cap(values['tap-rule-cap']) })),
    ...(key && cert && { tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } }),
    ...(values['management-key'] !== undefined && { managementKey: values['management-key'] }),
    ...(values['excerpt-chars'] !== undefined && { excerptChars: toNumber(values['excerpt-chars']) }),
    ...(values['rule-delay-ms'] !== undefined && { ruleDelayMs: toNumber(values['rule-delay-ms']) }),
  };
}

function toNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= 0)) throw new RangeError(`not a number: ${text}`);
  return number;
}
