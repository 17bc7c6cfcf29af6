import { createServer } from 'node:net';

const usualPort = 8080;

/** The ports to try for the API, in this order; 0 is any free port. Throws if the wanted port is in use. */
export async function choosePorts(
  wanted: number | undefined,
  isForPrograms: boolean,
): Promise<readonly number[]> {
  if (wanted !== undefined && wanted !== 0 && !(await isFree(wanted))) {
    throw new Error(`Port ${wanted} is in use. Choose another one with --port, or leave the option out.`);
  }
  if (wanted !== undefined) return [wanted];
  // Another program, such as a second demo, may still take the port before the server does.
  return !isForPrograms && (await isFree(usualPort)) ? [usualPort, 0] : [0];
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
