# Built and run by the container tests (e2e/containers), on a stand-in for the image of Node.
FROM node:24.21.0-slim AS sources
RUN npm install --global pnpm@12
WORKDIR /app
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .pnpmfile.mjs tsconfig.json ./
COPY packages packages
COPY apps apps
COPY e2e/package.json e2e/package.json

FROM sources AS dependencies
RUN pnpm install --prod --frozen-lockfile --filter '!@earshot/console'

# Of the console, only what it is built to is in the image. The server is built so that it starts in half the time.
FROM sources AS built
RUN pnpm install --frozen-lockfile --filter '@earshot/console...' --filter '@earshot/server...'
RUN pnpm build:console && pnpm build:server

# Node runs the TypeScript sources of everything else as they are.
FROM node:24.21.0-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app .
COPY --from=built /app/apps/console/dist apps/console/dist
COPY --from=built /app/apps/server/dist apps/server/dist
USER 10001:10001
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://${process.env.EARSHOT_METRICS_HOST ?? '127.0.0.1'}:${process.env.EARSHOT_METRICS_PORT ?? 9464}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/server/dist/main.mjs"]
