import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';

const deploy = join(import.meta.dirname, '../../../deploy');

test.for(['nats.conf', 'nats-cluster.conf'])('nats-server accepts deploy/%s', async (file) => {
  const env = {
    ...process.env,
    NATS_NAME: 'n1',
    NATS_PASSWORD: '"1234"',
    NATS_CLUSTER_PASSWORD: '"5678"',
    NATS_ROUTES: '["nats://cluster:5678@nats-1:6222"]',
  };
  const { stderr } = await promisify(execFile)(inject('natsServer'), ['-t', '-c', join(deploy, file)], {
    env,
  });
  expect(stderr).toContain('is valid');
});
