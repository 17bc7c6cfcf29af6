import type { FastifyInstance } from 'fastify';
import type { ReadFeed } from '../feeds/read-feed.ts';
import { Failure } from '../runtime/failure.ts';

/** The answer is for one person, and browsers must neither run it, nor pass on its URL, nor index it. */
const headers = {
  'cache-control': 'private, max-age=60',
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};

/** Feeds for feed readers, which send no `Authorization` header: the URL is the credential. It is logged as the id of its feed. */
export function addFeeds(app: FastifyInstance, { readFeed }: { readonly readFeed: ReadFeed }): void {
  app.route<{ Params: { '*': string } }>({
    method: ['GET', 'HEAD'],
    url: '/feeds/*',
    config: { operation: 'ReadFeed' },
    handler: async (request, reply) => {
      const found = await readFeed(request.params['*'], {
        ifNoneMatch: request.headers['if-none-match'],
        ifModifiedSince: request.headers['if-modified-since'],
      });
      // The same for a malformed URL, an unknown one, and one that was revoked.
      if (found === null)
        throw new Failure('not_found', 'The feed does not exist: its URL is wrong, or the feed was deleted.');
      const { feedId, accountId, etag, lastModified, contentType, body } = found;
      request.feed = { feedId, accountId };
      reply.headers({ ...headers, etag, 'last-modified': lastModified.toUTCString() });
      if (body === null) return await reply.code(304).send();
      reply.header('content-type', contentType);
      return await reply.send(request.method === 'HEAD' ? undefined : await body());
    },
  });
}
