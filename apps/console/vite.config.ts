import type { IncomingMessage } from 'node:http';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The API that `pnpm dev:console` uses: the default address of the server and of the demo. */
const target = 'http://127.0.0.1:8080';
const proxied = ['/api.', '/matches', '/notices', '/platforms', '/console', '/openapi.json'];
/** Some paths, such as `/notices`, are both a page and an API path. */
const bypass = ({ headers }: IncomingMessage) =>
  headers.accept?.includes('text/html') ? '/index.html' : undefined;

export default defineConfig({
  plugins: [react()],
  // The server replaces the placeholder with a new nonce in every answer.
  html: { cspNonce: '__NONCE__' },
  build: {
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // The content security policy allows data: only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // `pnpm check` uses it to limit the size of what a page loads.
    manifest: true,
    chunkSizeWarningLimit: 1_000,
  },
  // The same host as the server: cookies ignore ports, so a sign-in link of the server also works here.
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(proxied.map((path) => [path, { target, bypass }])),
  },
});
