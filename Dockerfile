# Built and run by the container tests (e2e/containers), on a stand-in for the image of Node.
FROM node:24.21.0-slim AS sources
RUN npm install --global pnpm@12
WORKDIR /app
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml tsconfig.json ./
COPY packages packages
COPY apps apps
COPY e2e/package.json e2e/package.json

FROM sources AS dependencies
RUN pnpm install --prod --frozen-lockfile --filter '!@earshot/console'

# Of the console, only what it is built to is in the image.
FROM sources AS console
RUN pnpm install --frozen-lockfile --filter '@earshot/console...'
RUN pnpm --filter @earshot/console build

# What Node compiles at a start, for the user that runs it: the server is up in half the time.
FROM dependencies AS compiled
ENV NODE_COMPILE_CACHE=/app/.compile-cache
RUN install -d -o 10001 .compile-cache && cd apps/server && setpriv --reuid=10001 --clear-groups node --input-type=module -e "for (const file of ['config', 'compose/node', 'observability/logger', 'runtime/shut-down', 'oauth/authorization-server']) await import('./src/' + file + '.ts'); await import('@earshot/mcp')"
RUN chmod -R a+rX .compile-cache

# Node runs the TypeScript sources of everything else as they are.
FROM node:24.21.0-slim
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compile-cache
WORKDIR /app
COPY --from=dependencies /app .
# Root's, because whoever can write it can change what the server runs.
COPY --from=compiled /app/.compile-cache .compile-cache
COPY --from=console /app/apps/console/dist apps/console/dist
USER 10001:10001
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://${process.env.EARSHOT_METRICS_HOST ?? '127.0.0.1'}:${process.env.EARSHOT_METRICS_PORT ?? 9464}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/server/src/main.ts"]
