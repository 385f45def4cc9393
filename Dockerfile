# The image contains the single binary and the C libraries that it links, without a shell, and runs as
# an ordinary user. It writes no file: run it with a read-only root file system. Its contents are listed
# in /usr/share/doc/gatehouse, and for scanners in /var/lib/dpkg/status.d.
ARG NODE_IMAGE=node:26-bookworm-slim
ARG BASE_IMAGE=scratch

FROM ${NODE_IMAGE} AS build
# The folder of the app to contain, below this one; without it the image runs none.
ARG APP=
# strip makes the file a fifth smaller.
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
WORKDIR /gatehouse
COPY package.json package-lock.json LICENSE ./
# The scripts of packages and `prepare` would need the sources; only Node is installed by its script.
RUN npm ci --ignore-scripts && npm rebuild node
COPY tsconfig.json ./
COPY .config .config
COPY prisma prisma
COPY clients/typescript/src clients/typescript/src
COPY plugins plugins
COPY routes routes
COPY src src
COPY dev dev
COPY docs/verifying-webhooks docs/verifying-webhooks
COPY ${APP:-LICENSE} ${APP:-LICENSE}
RUN npm run prepare && npm run build:binary -- ${APP:+--app "$APP"}
WORKDIR /root-fs
RUN ldd /gatehouse/dist/gatehouse | grep -o '/[^ ]*' > /tmp/libraries \
 && xargs -I{} cp --parents --dereference {} . < /tmp/libraries \
 && install -D --mode=644 /etc/nsswitch.conf etc/nsswitch.conf \
 && install -D --mode=644 /etc/os-release etc/os-release \
 && sed 's,.*/,*/,' /tmp/libraries | xargs dpkg-query --search | cut -d: -f1 | sort -u > /tmp/packages \
 && mkdir -p var/lib/dpkg/status.d \
 && while read -r package; do \
      dpkg-query --status "$package" > "var/lib/dpkg/status.d/$package" \
      && cp --parents --dereference "/usr/share/doc/$package/copyright" .; \
    done < /tmp/packages \
 && install -D --mode=755 /gatehouse/dist/gatehouse gatehouse \
 && install -D --mode=644 --target-directory=usr/share/doc/gatehouse /gatehouse/LICENSE \
      /gatehouse/dist/gatehouse.cdx.json /gatehouse/dist/THIRD-PARTY-NOTICES

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
HEALTHCHECK --start-period=30s --interval=10s --timeout=3s CMD ["/gatehouse", "health"]
ENTRYPOINT ["/gatehouse"]
CMD ["serve"]
