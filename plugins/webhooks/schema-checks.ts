import fp from 'fastify-plugin'
import type { Clock } from '#src/runtime/clock.ts'
import { createSchemaChecks, type SchemaChecks } from '#src/webhooks/checks/schema-checks.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Checks the event data of apps against their schemas, in a thread. */
    schemaChecks: SchemaChecks
  }
}

/** The thread that checks event data; it starts with the first check. */
export default fp<{ clock: Clock }>(
  async function schemaChecks(app, { clock }) {
    const checks = createSchemaChecks({ clock, log: app.log })
    app.decorate('schemaChecks', checks)
    app.addHook('onClose', () => checks.close())
  },
  { name: 'schema-checks', fastify: '5.x' },
)
