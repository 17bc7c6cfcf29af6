import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../runtime/failure.ts';

const compress = promisify(gzip);

/** Asks about a program that wants to use the account. */
const authorizePage = '/console/authorize/:uid';

/** Which of them the page shows is its own matter. */
const pages = [
  '/',
  '/sign-in',
  '/feed',
  '/rules',
  '/rules/:id',
  '/coverage',
  '/sources',
  '/cost',
  '/webhooks',
  '/webhooks/:id',
  '/keys',
  '/notices',
  '/audit',
  authorizePage,
];

/** What the build makes; anything else in its folder is not served. */
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Nothing but our own files runs or is asked for. The editor writes styles of its own, with the nonce of the page. */
const policyWith = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    // Text cannot become HTML or a script, whoever tries: no part of the console needs that.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'permissions-policy':
    'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), payment=(), usb=()',
  'cross-origin-resource-policy': 'same-origin',
};

const notBuilt = `<!doctype html>
<html lang="en"><title>Earshot</title>
<p>The console is not built yet: run <code>pnpm build:console</code>, then load this page again.</p></html>
`;

interface Built {
  /** With a placeholder for the nonce. */
  readonly page: string;
  /** By name: nothing outside of this table can be asked for. */
  readonly assets: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** Made when somebody first asks for it. */
  zipped: Promise<Buffer> | null;
}

/** Serves the console as it was built into the folder: read when it is first asked for, and kept. */
export function addConsoleFiles(app: FastifyInstance, folder: string): void {
  let reading: Promise<Built | null> | null = null;
  const read = async () => {
    reading ??= readBuilt(folder);
    const built = await reading;
    if (built === null) reading = null;
    return built;
  };
  const showPage = async ({ routeOptions }: FastifyRequest, reply: FastifyReply) => {
    const built = await read();
    const nonce = randomBytes(16).toString('base64');
    reply.headers({
      ...pageHeaders,
      'content-security-policy': policyWith(nonce),
      // A program on the web opens that page in a window of its own, and learns from its opener that it is over.
      'cross-origin-opener-policy': routeOptions.url === authorizePage ? 'unsafe-none' : 'same-origin',
    });
    return built === null ? reply.code(503).send(notBuilt) : built.page.replaceAll('__NONCE__', nonce);
  };
  for (const url of pages) app.get(url, { config: { operation: 'Console' } }, showPage);
  app.get<{ Params: { name: string } }>(
    '/assets/:name',
    { config: { operation: 'Console' } },
    async (request, reply) => {
      const { name } = request.params;
      const asset = (await read())?.assets.get(name);
      if (!asset) throw new Failure('not_found', 'The console has no such file: load its page again.');
      reply.headers({
        'content-type': asset.type,
        'cross-origin-resource-policy': 'same-origin',
        vary: 'accept-encoding',
        // A name with a hash of the content stands for this content for ever.
        'cache-control': /-[\w-]{8}\.\w+$/.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      });
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return asset.body;
      asset.zipped ??= compress(asset.body, { level: 9 });
      reply.header('content-encoding', 'gzip');
      return await asset.zipped;
    },
  );
}

async function readBuilt(folder: string): Promise<Built | null> {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch(nothingThere);
  if (page === null) return null;
  const names = (await readdir(join(folder, 'assets')).catch(nothingThere)) ?? [];
  const assets = names.flatMap((name) => {
    const type = types[extname(name)];
    return type === undefined ? [] : [{ name, type }];
  });
  const read = assets.map(async ({ name, type }) => {
    const body = await readFile(join(folder, 'assets', name));
    return [name, { type, body, zipped: null }] as const;
  });
  return { page, assets: new Map(await Promise.all(read)) };
}

function nothingThere(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
