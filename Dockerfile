# syntax=docker/dockerfile:1
# Any Node.js from 20.20 on works.
ARG NODE_IMAGE=node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY config config
COPY jobs jobs
COPY src src
RUN node src/setup/setup.mjs --without-redis

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Backhaul" \
      org.opencontainers.image.description="Moves product-analytics history into a PostHog-compatible service; can be stopped anywhere and resumed." \
      org.opencontainers.image.licenses="MIT"
# For a container without REDIS_URL, which runs a private Redis.
RUN apt-get update \
 && apt-get install -y --no-install-recommends redis-server \
 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production BACKHAUL_DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --no-audit --no-fund
COPY --from=build /app/dist dist
# Without the other sources, the launcher treats this as an installed package and builds nothing.
COPY src/setup src/setup
RUN mkdir /data && chown node:node /data
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
VOLUME /data
ENTRYPOINT ["node", "/app/src/setup/backhaul.mjs"]
CMD ["worker"]
