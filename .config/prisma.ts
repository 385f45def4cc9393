import { defineConfig } from 'prisma/config'

// `prisma generate` wants an engine binary it never runs; naming any executable stops the download.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath

export default defineConfig({
  schema: '../prisma/schema.prisma',
  migrations: { path: '../prisma/migrations', seed: 'node dev/cli.ts seed' },
})
