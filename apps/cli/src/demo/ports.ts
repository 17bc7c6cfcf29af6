import { createServer } from 'node:net';

const usualPort = 8080;

/** The ports to try for the API, one after the other; 0 is a free one. A port that was asked for is taken or refused. */
export async function choosePorts(
  wanted: number | undefined,
  isForPrograms: boolean,
): Promise<readonly number[]> {
  if (wanted !== undefined && wanted !== 0 && !(await isFree(wanted))) {
    throw new Error(`Port ${wanted} is in use. Choose another one with --port, or leave the option out.`);
  }
  if (wanted !== undefined) return [wanted];
  // Another program, a second demo for one, may still take it before the server does.
  return !isForPrograms && (await isFree(usualPort)) ? [usualPort, 0] : [0];
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
