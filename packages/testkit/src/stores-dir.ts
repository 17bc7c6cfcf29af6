import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;

/**
 * Where PostgreSQL and NATS of the tests store: in memory if there is room. ext4 gives a new file no inode that was freed in the
 * last seconds, and searches long for another one after each test has dropped its database, of 800 files.
 */
export function storesDir(): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= neededBytes ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
