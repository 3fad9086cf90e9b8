# syntax=docker/dockerfile:1
# Node 24; 20.20 and 22 work as well.
ARG NODE_IMAGE=node:24-slim

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
      org.opencontainers.image.description="Moves product-analytics history into a service that speaks one contract; resumable anywhere." \
      org.opencontainers.image.licenses="MIT"
# For a container that runs on its own; with REDIS_URL set it stays unused.
RUN apt-get update \
 && apt-get install -y --no-install-recommends redis-server \
 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production BACKHAUL_DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --no-audit --no-fund
COPY --from=build /app/dist dist
# The build comes without its sources, so that the launcher finds nothing to set up.
COPY src/setup src/setup
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
ENTRYPOINT ["node", "/app/src/setup/backhaul.mjs"]
CMD ["worker"]
