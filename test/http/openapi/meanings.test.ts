import t from 'tap'
import type { ApiDescription, Schema } from '#src/http/openapi/examples.ts'
import { root } from '#test/docs/page.ts'
import { runProgram } from '#test/support/processes/program.ts'

/* Nobody should have to guess what a field is: every field and parameter of the description says it. */

/** The sample, the templates, and an app with each kind of field. */
const apps = ['examples/shop', 'dev/template/empty', 'dev/template/tasks', 'test/support/kinds-app']

/** All begin at once. */
const described = new Map(apps.map((app) => [app, describe(t, app)]))

for (const [app, description] of described) {
  t.test(`every field and parameter of ${app} has a meaning`, async (t) => {
    const found = meaningsOf(await description)
    t.ok(found.length > 500, `${found.length} fields`)
    t.same(
      found.filter(({ words }) => words.trim() === '').map(({ place }) => place),
      [],
    )
    const isName = ({ place, words }: Meaning) =>
      bare(words) === bare(place.split(' ').at(-1) ?? '')
    t.same(found.filter(isName), [], 'no meaning is the name again')
  })
}

t.test('what an app says of a field is its meaning in responses, bodies and forms', async (t) => {
  const { paths, components } = await describe(t, 'test/support/small-app')
  const { Task, TaskChange } = components?.schemas ?? {}
  const words = 'How far the work is; done tasks are kept'
  t.equal(Task?.properties?.status?.description, words)
  t.equal(TaskChange?.properties?.status?.description, words)
  const { parameters = [] } = paths['/tasks']?.get ?? {}
  t.match(
    parameters.find(({ name }) => name === 'status'),
    { description: /`status`/ },
  )
})

async function describe(t: Parameters<typeof runProgram>[0], app: string): Promise<ApiDescription> {
  const env = { NODE_ENV: 'production', BASE_URL: 'http://localhost:3000' }
  const program = await runProgram(t, ['openapi', '--app', `${root}/${app}`], env)
  if ((await program.ended) !== 0) throw new Error(program.messages())
  return JSON.parse(program.results())
}

type Meaning = { readonly place: string; readonly words: string }

/** What each field and parameter says, by the schemas and operations that it is in. */
function meaningsOf({ paths, webhooks = {}, components = {} }: ApiDescription): Meaning[] {
  const { schemas = {} } = components
  const resolved = ({ $ref = '' }: Schema) => schemas[$ref.replace(/^.*\//, '')] ?? {}

  function wordsOf(schema: Schema): string {
    const [first] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null')
    return schema.description ?? resolved(schema).description ?? (first ? wordsOf(first) : '')
  }

  /** @param said the fields that another part of an `allOf` explains */
  function walk(schema: Schema, place: string, said: readonly string[] = []): Meaning[] {
    const { properties = {}, items, allOf = [], anyOf = [], oneOf = [] } = schema
    const named = allOf.flatMap((one) => Object.keys(resolved(one).properties ?? {}))
    return [
      ...Object.entries(properties).flatMap(([name, one]) => [
        ...(said.includes(name) ? [] : [{ place: `${place} ${name}`, words: wordsOf(one) }]),
        ...walk(one, `${place} ${name}`),
      ]),
      ...(items === undefined ? [] : walk(items, place)),
      ...allOf.flatMap((one) => walk(one, place, named)),
      ...[...anyOf, ...oneOf].flatMap((one) => walk(one, place)),
    ]
  }

  const operations = [paths, webhooks].flatMap((all) =>
    Object.entries(all).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    ),
  )
  return [
    ...Object.entries(schemas).flatMap(([title, schema]) => walk(schema, title)),
    ...operations.flatMap(({ path, method, operation: { parameters = [], ...rest } }) => [
      ...parameters.map(({ name, description = '' }) => ({
        place: `${method} ${path} ${name}`,
        words: description,
      })),
      ...[rest.requestBody, ...Object.values(rest.responses)]
        .flatMap((one) => (one !== undefined && 'content' in one ? [one.content ?? {}] : []))
        .flatMap((content) => Object.values(content))
        .flatMap(({ schema }) => walk(schema, `${method} ${path}`)),
    ]),
  ]
}

function bare(words: string): string {
  return words.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
