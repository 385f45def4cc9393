import Fastify from 'fastify'
import t from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import schemaCompilers from '#plugins/api/schema-compilers.ts'
import { build } from '#test/support/app/app.ts'

async function compilers() {
  const app = Fastify()
  await app.register(schemaCompilers)
  const { validatorCompiler, serializerCompiler } = app
  if (!validatorCompiler || !serializerCompiler) throw new Error('The plugin sets both.')
  return { validatorCompiler, serializerCompiler }
}

// Schemas are compiled at the first request, so a broken one is not noticed at startup.
t.test('every schema of a route can be compiled', async (t) => {
  const { routes } = await collectRoutes(() => build(t))
  const { validatorCompiler, serializerCompiler } = await compilers()
  for (const { method, url, schema = {} } of routes) {
    const where = { method, url }
    for (const part of ['params', 'querystring', 'body', 'headers'] as const) {
      const found = schema[part]
      if (found === undefined) continue
      t.doesNotThrow(() => validatorCompiler({ ...where, schema: found })(null), `${url} ${part}`)
    }
    for (const [status, answer] of Object.entries(Object(schema.response))) {
      for (const found of schemasOf(answer)) {
        const write = () => serializerCompiler({ ...where, schema: found })({})
        t.match(outcomeOf(write), /^written$|is required!$/, `${url} ${status}`)
      }
    }
  }
})

t.test('a schema that cannot be compiled fails at its first use', async (t) => {
  const { validatorCompiler, serializerCompiler } = await compilers()
  const where = { method: 'GET', url: '/', schema: { type: 'nothing' } }
  t.throws(() => validatorCompiler(where)(null), /schema is invalid/)
  t.throws(() => serializerCompiler(where)({}), /schema is invalid|nothing/)
})

/** A body schema is for all content types, or one per content type. */
function schemasOf(answer: unknown): unknown[] {
  const { content } = Object(answer)
  if (content === undefined) return [answer]
  return Object.values<{ schema: unknown }>(content).map(({ schema }) => schema)
}

function outcomeOf(write: () => string): string {
  try {
    write()
    return 'written'
  } catch (error) {
    return String(error)
  }
}
