import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A key and a certificate for a name or an address, self-signed, as PEM. */
export async function createCertificate(name: string): Promise<{ key: string; cert: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=${name}`;
  const files = [
    '-addext',
    `subjectAltName=${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`,
    '-keyout',
    key,
    '-out',
    cert,
  ];
  await promisify(execFile)('openssl', [...command.split(' '), ...files]);
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  await rm(dir, { recursive: true });
  return pair;
}
