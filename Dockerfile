# Gatehouse as a container: the single binary with the C libraries it is linked to and nothing
# else, not even a shell, as an ordinary user. It writes no file: run it with a read-only root.
ARG NODE_IMAGE=node:26-bookworm-slim
ARG BASE_IMAGE=scratch

FROM ${NODE_IMAGE} AS build
WORKDIR /gatehouse
COPY package.json package-lock.json ./
COPY .config .config
COPY prisma prisma
RUN npm ci
COPY tsconfig.json ./
COPY plugins plugins
COPY routes routes
COPY src src
RUN npm run build:binary
WORKDIR /root-fs
RUN ldd /gatehouse/dist/gatehouse | grep -o '/[^ ]*' | xargs -I{} cp --parents --dereference {} . \
 && install -D /etc/nsswitch.conf etc/nsswitch.conf \
 && install -D --mode=755 /gatehouse/dist/gatehouse gatehouse

FROM ${BASE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="Sign-in, scoped authorization and signed webhooks over one PostgreSQL" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /root-fs /
ENV NODE_ENV=production
USER 65532:65532
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s CMD ["/gatehouse", "health"]
ENTRYPOINT ["/gatehouse"]
CMD ["serve"]
