import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { platformDescriptions, platforms } from '@earshot/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../runtime/failure.ts';

const compress = promisify(gzip);

/** The page that asks the user to authorize a program. */
const authorizePage = '/console/authorize/:uid';

/** Paths of the console. Its script decides which of them it shows. */
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

/** The file types of the build. Other files in its folder are not served. */
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Only Earshot's own files run or load. The editor creates style elements, with the nonce of the page. */
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
    // Text cannot become HTML or a script: no part of the console needs that.
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

interface ConsoleBuild {
  /** Contains a placeholder for the nonce. */
  readonly page: string;
  /** By name. Files outside of this table are not served. */
  readonly assets: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** Created at the first request. */
  zipped: Promise<Buffer> | null;
}

/**
 * Serves the console from the folder of its build. Files are read at their first request, and cached. Returns the handler that sends
 * the page.
 */
export function addConsoleFiles(app: FastifyInstance, folder: string) {
  let reading: Promise<ConsoleBuild | null> | null = null;
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
      // A program on the web opens that page in a separate window, and learns through its opener when it is done. Against clickjacking,
      // that page ignores "Allow" for half a second after it gets the focus.
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
      if (!asset) throw new Failure('not_found', 'The file does not exist. Reload the console.');
      reply.headers({
        'content-type': asset.type,
        'cross-origin-resource-policy': 'same-origin',
        vary: 'accept-encoding',
        // A name with a hash always stands for the same content.
        'cache-control': /-[\w-]{8}\.\w+$/.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
      });
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return asset.body;
      asset.zipped ??= compress(asset.body, { level: 9 });
      reply.header('content-encoding', 'gzip');
      return await asset.zipped;
    },
  );
  return showPage;
}

async function readBuilt(folder: string): Promise<ConsoleBuild | null> {
  const file = await readFile(join(folder, 'index.html'), 'utf8').catch(nothingThere);
  if (file === null) return null;
  const hasMore = platforms.some((platform) => platformDescriptions[platform].setting !== null);
  const page = hasMore ? file.replace('<html ', `<html data-platforms="${platforms.join(' ')}" `) : file;
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
