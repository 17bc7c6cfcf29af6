import { command, type Option } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { loadLocal } from '../load-local.ts';
import { flag, integer, text } from '../options.ts';

/** The older protocol, which this instance keeps when it gets the new one. */
const publicInstance = 'wss://jetstream2.us-east.bsky.network/subscribe';

const live: Option<string | null> = {
  about: `also the posts of Bluesky, which are free, from a Jetstream instance (default ${publicInstance})`,
  placeholder: '[url]',
  read: (given) => (given === undefined ? null : given || publicInstance),
};

export const demo = command({
  name: 'demo',
  summary: 'start Earshot on this machine with a live feed, and show matches',
  details:
    'Starts its own PostgreSQL and NATS, and a sandbox that stands in for X and Firehose. Press Ctrl+C to stop and delete demo data.',
  options: {
    port: integer('<n>', 'port of the API (default: 8080 if it is free)', { min: 0, max: 65_535 }),
    feed: text('<posts,pages>', 'made-up posts and pages per second (default 4,1)'),
    live,
    cluster: flag('three NATS nodes instead of one'),
    server: text('<url>', 'show the demo on this server, as compose.demo.yaml does, instead of starting one'),
  },
  aboutJson:
    'for programs: no rule, a free port, and one line when it is ready: {"base_url","api_key","second_api_key","sandbox_url","console_url"}',
  examples: ['earshot demo', 'earshot demo --live', 'earshot demo --feed 20,5', 'earshot demo --json'],
  async run({ options: { feed = '4,1', port, cluster, live: blueskyUrl, server } }, context) {
    if (!/^\d+(\.\d+)?,\d+(\.\d+)?$/.test(feed)) {
      throw usageFailure('--feed takes posts and pages per second, such as 4,1.');
    }
    const { runDemo, runDemoOn } = await loadLocal(() => import('../local/demo.ts'));
    if (server !== undefined) return runDemoOn(server, context);
    return runDemo({ feed, port, cluster, blueskyUrl }, context);
  },
});
