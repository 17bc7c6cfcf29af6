import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { newKey } from '../accounts/keys.ts';
import { newSecret } from '../webhooks/secrets.ts';

const { key, display } = newKey();
const webhookSecret = newSecret();
/** Like X's tokens, which have no recognisable form. */
const upstreamToken = 'AAAAAAAAAAAAAAAAAAAAAMLheAAAAAAA0%2BuSeid%2BULvsea4JtiGRiSDSJSI%3DEUifiRBkKG5E2';

function programOf(statements: string): string {
  const logger = new URL('logger.ts', import.meta.url).href;
  return `
    import { createLogger } from ${JSON.stringify(logger)};
    const log = createLogger({ level: 'debug' }).child({ node: '1' });
    ${statements}`;
}

/** The output of the server's logger, from its own process. */
async function linesOf(statements: string): Promise<string[]> {
  const program = programOf(statements);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return stdout.trim().split('\n');
}

const json = (value: unknown) => JSON.stringify(value);

const secretLines: readonly (readonly [what: string, statement: string, secret: string])[] = [
  ['an API key in a field with a known name', `log.info(${json({ keyId: 'key_1', key })}, 'request')`, key],
  [
    'a header',
    `log.info(${json({ keyId: 'key_1', authorization: `Bearer ${key}` })}, 'request')`,
    key.slice(-20),
  ],
  [
    'a header without a known form',
    `log.info(${json({ keyId: 'key_1', headers: { authorization: upstreamToken } })}, 'call')`,
    upstreamToken,
  ],
  [
    'a header with a scheme, nested in a library error',
    `log.warn({ keyId: 'key_1', err: Object.assign(new Error('refused'), ${json({
      request: { options: { headers: [`authorization: Bearer ${upstreamToken}`] } },
    })}) }, 'call')`,
    upstreamToken.slice(-20),
  ],
  [
    'an upstream token in a field with a known name',
    `log.info(${json({ keyId: 'key_1', token: upstreamToken })}, 'source')`,
    upstreamToken,
  ],
  [
    'an upstream token one level down',
    `log.info(${json({ keyId: 'key_1', source: { token: upstreamToken } })}, 'source')`,
    upstreamToken,
  ],
  [
    'a webhook secret in a field with a known name',
    `log.info(${json({ keyId: 'key_1', webhook: { secret: 'of no known form' } })}, 'rotated')`,
    'of no known form',
  ],
  [
    'a webhook secret under another name',
    `log.info(${json({ keyId: 'key_1', webhook: { sealed: { plain: webhookSecret } } })}, 'rotated')`,
    webhookSecret.slice('whsec_'.length),
  ],
  [
    'an API key in an error message and its stack',
    `log.error({ keyId: 'key_1', err: new Error(${json(`no such thing:\n${key}`)}) }, 'failed')`,
    key.slice('esk_'.length),
  ],
  ['an API key in the text of the line', `log.info({ keyId: 'key_1' }, ${json(`refused ${key}`)})`, key],
];

test('no secret is written in any form', async () => {
  const lines = await linesOf(secretLines.map(([, statement]) => statement).join(';\n'));
  expect(lines).toHaveLength(secretLines.length);
  const isWritten = (line: string, secret: string) => line.includes(secret) || !line.includes('[Redacted]');
  const written = secretLines.filter(([, , secret], index) => isWritten(lines[index] ?? '', secret));
  expect(written.map(([what]) => what)).toEqual([]);
  // The rest of each line is unchanged and still JSON.
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ keyId: 'key_1', msg: expect.any(String) });
});

test('masked keys and ids are written', async () => {
  const harmless = { keyId: 'key_01kb2n0a4c7q5t8w3y6z1v0n2p', display, requestId: 'req_1' };
  const [line] = await linesOf(`log.info(${json(harmless)}, 'request')`);
  expect(JSON.parse(line ?? '')).toMatchObject({ ...harmless, msg: 'request' });
});

test.each(['process.exit(0)', ''])(
  'a process whose stdout is on a full disk continues, and ends with %j',
  async (ending) => {
    await using disk = await open('/dev/full', 'w');
    // The monitor is not a listener, so an error without a listener still ends the process.
    const program = programOf(`
      import { errorMonitor } from 'node:events';
      import { setImmediate as nextTurn } from 'node:timers/promises';
      import { pino } from 'pino';
      for (const line of ['one', 'two']) {
        log.info(line);
        await new Promise((failed) => log[pino.symbols.streamSym].once(errorMonitor, failed));
        await nextTurn();
      }
      process.stderr.write('alive');
      ${ending}`);
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: import.meta.dirname,
      stdio: ['ignore', disk.fd, 'pipe'],
      timeout: 20_000,
    });
    const printed = text(child.stderr ?? Readable.from([]));
    const [code] = await once(child, 'close');
    expect({ code, printed: await printed }).toEqual({ code: 0, printed: 'alive' });
  },
);
