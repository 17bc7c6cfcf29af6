import { createServer } from 'node:net';

const usualPort = 8080;

/** The port for the API; 0 lets the server take a free one. A port that was asked for is taken or refused. */
export async function choosePort(wanted: number | undefined, isForPrograms: boolean): Promise<number> {
  if (wanted !== undefined && wanted !== 0 && !(await isFree(wanted))) {
    throw new Error(`Port ${wanted} is in use. Choose another one with --port, or leave the option out.`);
  }
  if (wanted !== undefined) return wanted;
  return !isForPrograms && (await isFree(usualPort)) ? usualPort : 0;
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
