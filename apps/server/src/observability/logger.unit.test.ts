import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

test('a key, token or authorization that reaches a log call by mistake is not written', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', node: 'n' }, { write: (line) => lines.push(line) });
  const secret = 'esk_secret';
  for (const name of ['key', 'token', 'authorization']) {
    log.info({ [name]: secret }, 'by mistake');
    log.warn({ headers: { [name]: secret } }, 'by mistake');
  }
  log.info({ keyId: 'key_1', accountId: 'acc_1' }, 'on purpose');
  expect(lines).toHaveLength(7);
  expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  expect(lines[6]).toContain('"keyId":"key_1","accountId":"acc_1"');
});
