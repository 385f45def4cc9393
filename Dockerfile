# Gatehouse as a container: the program and its production dependencies, as an ordinary user.
ARG NODE_IMAGE=node:26-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /gatehouse
COPY package.json package-lock.json ./
COPY .config .config
COPY prisma prisma
RUN npm ci --omit=dev
COPY plugins plugins
COPY routes routes
COPY src src
RUN rm -rf src/demo

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /gatehouse
COPY --from=build /gatehouse ./
USER 65532:65532
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.ADMIN_PORT || 9464) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/cli.ts"]
CMD ["serve"]
