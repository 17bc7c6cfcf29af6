# Not built in CI, which has no container engine: compose.yaml says what is checked instead.
FROM node:24.21.0-slim AS dependencies
RUN npm install --global pnpm@12
WORKDIR /app
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY packages packages
COPY apps apps
COPY e2e/package.json e2e/package.json
RUN pnpm install --prod --frozen-lockfile

# Node runs the TypeScript sources as they are: there is no build.
FROM node:24.21.0-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app .
USER 10001:10001
EXPOSE 8080 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://${process.env.EARSHOT_METRICS_HOST ?? '127.0.0.1'}:${process.env.EARSHOT_METRICS_PORT ?? 9464}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "apps/server/src/main.ts"]
