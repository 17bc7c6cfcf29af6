import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { skipUnless } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';

const script = fileURLToPath(new URL('send-without-route.ts', import.meta.url));
/** Without any route, not even loopback. Users other than root need a user namespace for it. */
const withoutRoutes = process.getuid?.() === 0 ? ['--net'] : ['--map-root-user', '--net'];
const { status, stderr, error } = spawnSync('unshare', [...withoutRoutes, 'true'], { encoding: 'utf8' });

describe(
  'on a machine without a route',
  skipUnless('namespace', status === 0 ? null : (error?.message ?? stderr)),
  () => {
    test.each([[['2606:4700::1']], [['93.184.215.14']], [['93.184.215.14', '2606:4700::1']]])(
      'to %j, the process survives and reports the failed connection',
      async (addresses) => {
        // Rejects if the process ends with another exit code than 0.
        const { stdout } = await promisify(execFile)('unshare', [
          ...withoutRoutes,
          process.execPath,
          script,
          ...addresses,
        ]);
        expect(JSON.parse(stdout)).toEqual({
          outcome: { kind: 'not_sent' },
          // Some kernels report that no local address fits.
          message: expect.stringMatching(/^(ENETUNREACH|EADDRNOTAVAIL)$/),
          fetched: 'AggregateError: no address of the host could be connected to',
        });
      },
    );
  },
);
