import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createCertificate } from '@earshot/testkit';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DigestMessageStore } from '../src/digests/digest-messages.sql.ts';
import { openMailer } from '../src/digests/mailer.ts';
import type { Database } from '../src/engines/database.ts';
import { type DigestWorld, openDigestWorld, startDigestReceiver } from './digest-world.ts';

interface Delivered {
  readonly to: readonly string[];
  readonly raw: string;
}

/** What the server does with the next mails: accepts, refuses temporarily, or breaks the connection before or after it accepts. */
type Behaviour = 'take' | 'later' | 'cut' | 'take_and_cut';

async function startMailServer() {
  const delivered: Delivered[] = [];
  const next: Behaviour[] = [];
  const tried = { mails: 0 };
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onRcptTo: ({ address }, _session, done) =>
      done(
        address.startsWith('unknown')
          ? Object.assign(new Error('no such user'), { responseCode: 550 })
          : null,
      ),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        tried.mails++;
        const behaviour = next.shift() ?? 'take';
        const cut = () => {
          for (const connection of server.connections) Object(connection)._socket.destroy();
        };
        if (behaviour === 'cut') return cut();
        if (behaviour === 'later') return done(Object.assign(new Error('try again'), { responseCode: 451 }));
        const to = envelope.rcptTo.map(({ address }) => address);
        delivered.push({ to, raw: Buffer.concat(chunks).toString() });
        if (behaviour === 'take_and_cut') return cut();
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    delivered,
    next,
    tried,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

let stack: AsyncDisposableStack;
let database: Database;
let world: DigestWorld;
let server: Awaited<ReturnType<typeof startMailServer>>;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  server = stack.use(await startMailServer());
  const mailer = stack.use(openMailer({ url: server.url, from: 'earshot@example.net' }));
  ({ database, world } = await openDigestWorld(stack, { mailer }));
});
afterEach(() => stack.disposeAsync());

const minuteMs = 60_000;
const email = ['ops@example.com', 'one@example.org'];

const headerOf = ({ raw }: Delivered, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(raw.split('\r\n\r\n')[0] ?? '')?.[1];

/** A digest with one match, due now. */
async function dueDigest(request: Parameters<DigestWorld['create']>[0] = { recipients: { email } }) {
  const digest = await world.create(request);
  await world.webhooks.storeMatches(['an <b>earthquake</b> & more']);
  world.clock.nowMs += minuteMs;
  return digest;
}

describe('a digest by e-mail', () => {
  test('arrives once at all its addresses, as text and HTML, and is marked as automatic', async () => {
    const digest = await dueDigest();
    const node = world.startNode();
    await node.tick();
    await node.tick();
    expect(server.delivered).toHaveLength(1);
    const [mail] = server.delivered;
    if (!mail) throw new Error('there is one');
    expect(mail.to).toEqual(email);
    expect(headerOf(mail, 'From')).toBe('earshot@example.net');
    expect(headerOf(mail, 'Subject')).toBe('report #1: 1 match');
    expect(headerOf(mail, 'Auto-Submitted')).toBe('auto-generated');
    expect(headerOf(mail, 'List-Id')).toBe(`<${digest.id}.example.net>`);
    expect(headerOf(mail, 'Message-ID')).toMatch(/^<msg_\w+@example\.net>$/);
    expect(mail.raw).toContain('Content-Type: text/plain');
    expect(mail.raw).toContain('Content-Type: text/html');
    expect(mail.raw).not.toContain('<b>');
    expect(mail.raw).not.toMatch(/src=|url\(/);
  });

  test.each(['later', 'cut'] as const)(
    'that is not accepted at first ("%s") arrives once, later',
    async (behaviour) => {
      server.next.push(behaviour, behaviour);
      await dueDigest();
      const node = world.startNode();
      await node.tick();
      expect(server).toMatchObject({ delivered: [], tried: { mails: 1 } });
      expect(await world.list()).toMatchObject([
        { message: expect.stringContaining('mail server'), last_sent_at: null },
      ]);
      for (let round = 0; round < 4; round++) {
        await node.tick(2 * minuteMs);
      }
      expect(server.tried.mails).toBe(3);
      expect(server.delivered).toHaveLength(1);
      expect(await world.list()).toMatchObject([{ message: null, last_sent_at: expect.any(String) }]);
    },
  );

  test('is repeated with the same Message-ID if the answer was lost', async () => {
    server.next.push('take_and_cut');
    await dueDigest();
    const node = world.startNode();
    await node.tick();
    await node.tick(minuteMs);
    const ids = server.delivered.map((mail) => headerOf(mail, 'Message-ID'));
    expect(ids).toEqual([ids[0], ids[0]]);
  });

  test('is sent to the accepted addresses, and the digest names the others', async () => {
    await dueDigest({ recipients: { email: ['ops@example.com', 'unknown@example.com'] } });
    await world.startNode().tick();
    expect(server.delivered).toMatchObject([{ to: ['ops@example.com'] }]);
    expect(await world.list()).toMatchObject([{ message: 'Not accepted for unknown@example.com.' }]);
  });

  test('cannot inject a header with its name', async () => {
    await dueDigest({ recipients: { email }, name: 'report\r\nBcc: victim@example.com\r\n\r\nHello' });
    await world.startNode().tick();
    expect(server.delivered).toMatchObject([{ to: email }]);
    const [mail] = server.delivered;
    expect(mail && headerOf(mail, 'Bcc')).toBeUndefined();
    expect(mail && headerOf(mail, 'Subject')).toContain('victim');
  });

  test('is sent only to addresses that the operator allows', async () => {
    for (const address of ['ops@example.org', 'one@sub.example.com', 'a@notexample.com'])
      await expect(world.create({ recipients: { email: [address] } })).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    await expect(world.create({ recipients: { email: ['One@Example.org'] } })).resolves.toBeDefined();
  });

  test('is sent only to addresses that the operator still allows at sending', async () => {
    await dueDigest();
    await world.startNode({ mailRecipients: ['@example.com'] }).tick();
    expect(server.delivered).toMatchObject([{ to: ['ops@example.com'] }]);
    expect(await world.list()).toMatchObject([{ message: 'Not accepted for one@example.org.' }]);
    expect(await countedMails()).toBe(1);
  });

  test('is not sent if the operator no longer allows any of its addresses', async () => {
    await dueDigest();
    await world.startNode({ mailRecipients: [] }).tick();
    expect(server.tried.mails).toBe(0);
    expect(await world.list()).toMatchObject([
      { message: 'The operator of the service no longer allows mails to these addresses.' },
    ]);
    expect(await countedMails()).toBe(0);
  });
});

/** Mails that count for the account, over all days. */
async function countedMails(): Promise<number> {
  const [row] = await database.many<{ mails: number }>(
    'select coalesce(sum(mails), 0)::integer as mails from digest_mails',
  );
  return row?.mails ?? 0;
}

describe('the mails of an account per day', () => {
  test('count once per address, however often the message is tried', async () => {
    server.next.push('later', 'cut', 'take_and_cut');
    await dueDigest();
    await world.allowMails(2);
    const node = world.startNode();
    for (let round = 0; round < 4; round++) {
      await node.tick();
      world.clock.nowMs += 10 * minuteMs;
    }
    expect(server.tried.mails).toBe(4);
    expect(await world.list()).toMatchObject([{ message: null, last_sent_at: expect.any(String) }]);
    expect(await countedMails()).toBe(2);
  });

  test('also limit a waiting message that is redirected from a webhook to addresses', async () => {
    const { endpoint, recipients } = await startDigestReceiver(stack, world, () => 500);
    const { id } = await dueDigest({ recipients });
    await world.allowMails(2);
    const node = world.startNode();
    await node.tick();
    expect(endpoint.received).toHaveLength(1);
    const tooMany = Array.from({ length: 10 }, (_, index) => `a${index}@example.com`);
    await world.update({ digest_id: id, recipients: { email: tooMany } });
    await node.tick();
    expect(server.tried.mails).toBe(0);
    expect(await world.list()).toMatchObject([{ message: expect.stringContaining('2 mails a day') }]);
    await world.update({ digest_id: id, recipients: { email } });
    await node.tick();
    expect(server.delivered).toMatchObject([{ to: email }]);
    expect(await countedMails()).toBe(2);
  });

  test('count again for every other address that a message is redirected to', async () => {
    server.next.push('later', 'later');
    const { id } = await dueDigest({ recipients: { email: ['a@example.com'] } });
    await world.allowMails(2);
    const node = world.startNode();
    await node.tick();
    for (const address of ['b@example.com', 'c@example.com', 'a@example.com']) {
      await world.update({ digest_id: id, recipients: { email: [address] } });
      await node.tick();
    }
    expect(server.tried.mails).toBe(3);
    expect(server.delivered).toMatchObject([{ to: ['a@example.com'] }]);
    expect(await countedMails()).toBe(2);
  });

  test('are not exceeded by nodes that send at the same time', async () => {
    for (let digest = 1; digest < 6; digest++)
      await world.create({ recipients: { email }, name: `report ${digest}` });
    await dueDigest();
    const makesOnly = world.startNode({ store: (store) => ({ ...store, leaseDue: async () => [] }) });
    await makesOnly.tick();
    const store = (one: DigestMessageStore): DigestMessageStore => ({
      ...one,
      leaseDue: () => one.leaseDue(1),
    });
    await world.allowMails(5);
    const nodes = Array.from({ length: 6 }, () => world.startNode({ store }));
    await Promise.all(nodes.map((node) => node.tick()));
    expect(server.delivered).toHaveLength(2);
    expect(await countedMails()).toBe(4);
  });

  test('make a message wait for the next day if too few are left', async () => {
    await dueDigest();
    await world.allowMails(2);
    const node = world.startNode();
    world.clock.nowMs = Date.parse(
      `${new Date(world.clock.nowMs + 43_200_000).toISOString().slice(0, 10)}T12:00:00Z`,
    );
    await node.tick();
    await world.webhooks.storeMatches(['another']);
    await node.tick(minuteMs);
    await node.tick();
    expect(server.delivered).toHaveLength(1);
    expect(await world.list()).toMatchObject([{ message: expect.stringContaining('2 mails a day') }]);
    await node.tick(12 * 60 * minuteMs);
    expect(server.delivered).toHaveLength(2);
    expect(await world.list()).toMatchObject([{ last_number: 2, message: null }]);
  });

  test('make a message expire after a day, with a notice', async () => {
    await dueDigest();
    await world.allowMails(1);
    const node = world.startNode();
    await node.tick();
    await node.tick(24 * 60 * minuteMs);
    expect(server.tried.mails).toBe(0);
    expect(await database.many('select type from notices')).toContainEqual({ type: 'digest.given_up' });
  });
});

test('a mail server with an invalid certificate gets nothing', async () => {
  const { key, cert } = await createCertificate('mail.test');
  const secure = new SMTPServer({
    secure: true,
    key,
    cert,
    logger: false,
    authOptional: true,
    disableReverseLookup: true,
  });
  secure.on('error', () => undefined);
  secure.listen(0, '127.0.0.1');
  await once(secure.server, 'listening');
  stack.defer(() => new Promise<void>((resolve) => secure.close(() => resolve())));
  const { port } = secure.server.address() as AddressInfo;
  const mailer = stack.use(openMailer({ url: `smtps://127.0.0.1:${port}`, from: 'earshot@example.net' }));
  const mail = { messageId: 'msg_1', digestId: 'dig_1', to: email, subject: 's', text: 't', html: 'h' };
  await expect(mailer.send(mail)).rejects.toMatchObject({
    message: expect.stringMatching(/certificate|self-signed/i),
  });
});
