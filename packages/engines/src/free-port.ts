import { createServer } from 'node:net';

/**
 * Currently unused ports. All are held open together, so that one call never returns a port twice. Another program may
 * still take one before its server binds it; callers then retry with new ports.
 */
export async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(Array.from({ length: count }, holdPort));
  await Promise.all(holders.map((holder) => holder.release()));
  return holders.map((holder) => holder.port);
}

async function holdPort(): Promise<{ port: number; release(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return {
    port: address.port,
    release: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
