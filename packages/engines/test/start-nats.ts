import { startNats } from '../src/nats.ts';

const [server = '', dir = '', lifetime] = process.argv.slice(2);
const nats = await startNats({
  server,
  dir,
  nodes: 1,
  lifetime: lifetime === 'detached' ? 'detached' : 'parent',
});
process.send?.(nats.nodes[0]?.pid);
