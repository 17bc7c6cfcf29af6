import type { IncomingMessage } from 'node:http';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `pnpm dev:console` finds the API: the server's own default, and that of the demo. */
const target = 'http://127.0.0.1:8080';
const proxied = ['/api.', '/matches', '/notices', '/platforms', '/console', '/openapi.json'];
/** `/notices` is a page as well as a list. */
const bypass = ({ headers }: IncomingMessage) =>
  headers.accept?.includes('text/html') ? '/index.html' : undefined;

export default defineConfig({
  plugins: [react()],
  // The server puts a fresh one into every answer.
  html: { cspNonce: '__NONCE__' },
  build: {
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // The content security policy refuses data: in everything but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // `pnpm check` reads it, and bounds what is loaded.
    manifest: true,
    chunkSizeWarningLimit: 1_000,
  },
  // The host of the server, so that the session of a link that it prints counts here too: cookies do not know ports.
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(proxied.map((path) => [path, { target, bypass }])),
  },
});
