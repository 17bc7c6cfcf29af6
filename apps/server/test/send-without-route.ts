import { createFetchMetadata } from '../src/oauth/fetch-metadata.ts';
import { createSender } from '../src/webhooks/sender.ts';

/*
 * Contacts a host on the public internet as webhooks and as OAuth do, and prints the results. Run it only in a network
 * namespace without routes.
 */
const addresses = process.argv.slice(2);
const options = { resolve: async () => addresses, allowInsecure: false };
const url = 'https://hooks.example/';

await using sender = createSender(options);
const { outcome, message } = await sender.send({ url, headers: {}, body: '{}' });
await using metadata = createFetchMetadata(options);
const fetched = await metadata.fetch(url).catch((error: unknown) => String(error));
process.stdout.write(JSON.stringify({ outcome, message, fetched }));
