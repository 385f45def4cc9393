import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import type { Entry } from '#dev/testing/access/entries.ts'
import { placeFor } from '#dev/testing/access/objects.ts'
import { comparable } from '#dev/testing/access/request.ts'
import { actors } from '#test/access/matrix/actors.ts'
import { entriesOf, isWhole } from '#test/access/matrix/entries.ts'
import { reachOf } from '#test/access/matrix/expected.ts'
import { openProgram, type Setup } from '#test/access/matrix/matrix.ts'
import { kinds } from '#test/access/matrix/objects.ts'
import { requestOf } from '#test/access/matrix/request.ts'
import { digestOf } from '#test/access/matrix/trace.ts'
import { createCaller, createWorld } from '#test/access/matrix/world.ts'

/*
 * A request with an Idempotency-Key that is sent again gets the first response, byte for byte, and has
 * no second effect: every operation of the running program that takes a key.
 */

const { setup, routes } = await openProgram(t, { queryScope: true, rowLevelSecurity: true })
const { test } = setup
const keyed = new Set(
  routes.filter(({ takesKey }) => takesKey).map(({ method, url }) => `${method} ${url}`),
)
const operations = entriesOf(routes).filter(({ name }) => keyed.has(name))
const atOnce = 16

t.test('every operation that takes a key is asked', async (t) => {
  if (isWhole) t.strictSame(new Set(operations.map(({ name }) => name)), keyed)
  t.ok(operations.length > (isWhole ? 30 : 0), `${operations.length} operations`)
})

for (const operation of operations) {
  t.test(`${operation.name}: again, and by ${atOnce} at once`, async (t) => {
    const once = await prepare(setup, operation)
    const before = await digestOf(test.database)
    const first = await once()
    const after = await digestOf(test.database)
    t.equal(first.statusCode, operation.row.answer, first.body)
    t.equal(first.headers['idempotent-replayed'], undefined)
    const again = await once()
    t.equal(again.headers['idempotent-replayed'], 'true')
    t.strictSame(withoutMark(again), withoutMark(first), 'again')
    t.equal(await digestOf(test.database), after, 'again: nothing is written')

    const many = await prepare(setup, operation)
    const start = await digestOf(test.database)
    const answers = await Promise.all(Array.from({ length: atOnce }, many))
    const firsts = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
    t.equal(firsts.length, 1, 'one of them has done it')
    for (const answer of answers) t.strictSame(withoutMark(answer), withoutMark(answers[0]))
    t.equal(answers[0]?.statusCode, operation.row.answer)
    const end = await digestOf(test.database)
    t.strictSame(growth(start, end), growth(before, after), 'the effect of one')

    const secrets = secretsOf(first).concat(answers.flatMap(secretsOf))
    const { rows } = await test.database.admin.query<{ stored: string }>(
      `SELECT encode(result, 'escape') AS stored FROM idempotency_keys`,
    )
    const stored = rows.map((row) => row.stored).join('\n')
    for (const secret of secrets) t.notOk(stored.includes(secret), 'no secret can be read')
  })
}

/** Sends one request with one key, each time it is called, for an object of its own. */
async function prepare(
  { test, operators, setTime }: Setup,
  entry: Entry,
): Promise<() => Promise<LightMyRequestResponse>> {
  const world = await createWorld(test)
  const reach = reachOf(entry.row)
  const name = { app: 'app that may do everything', operator: 'operator' }[String(reach)]
  const actor = actors.find((one) => one.name === (name ?? 'admin, at night'))
  if (actor === undefined) throw new Error('There is no such actor.')
  setTime(actor.time)
  const caller = await createCaller(world, actor, operators)
  const kind = entry.row.object === undefined ? undefined : kinds[entry.row.object]
  const place = caller.userId === null ? 'a colleague’s' : 'own'
  const object = kind === undefined ? null : await placeFor(kind, world, caller, place)
  const request = await requestOf(entry, caller, object)
  const headers = { ...request.headers, 'idempotency-key': crypto.randomUUID() }
  return () => test.app.inject({ ...request, headers })
}

function withoutMark(answer: LightMyRequestResponse | undefined): unknown {
  if (answer === undefined) return undefined
  const { 'idempotent-replayed': _, ...headers } = answer.headers
  return comparable(Object.assign(Object.create(answer), { headers }))
}

// Their rows depend on what the worker and the counters have done meanwhile.
const ofOthers = ['pgboss.job', 'usage_changes']

/** By how many rows each table has grown. */
function growth(before: string, after: string): Record<string, number> {
  const [from, to] = [before, after].map(countsOf)
  return Object.fromEntries(
    Object.entries(to ?? {})
      .map(([table, count]) => [table, count - (from?.[table] ?? 0)] as const)
      .filter(([table, more]) => more !== 0 && !ofOthers.includes(table)),
  )
}

function countsOf(digest: string): Record<string, number> {
  const lines = digest.split('\n').map((line) => line.split(' '))
  return Object.fromEntries(lines.map(([table = '', count]) => [table, Number(count)]))
}

/** What a response shows once: a token, a secret that signs, and the secret of a link. */
function secretsOf({ body }: LightMyRequestResponse): string[] {
  const { token, secret, url } = JSON.parse(body)
  const link = typeof url === 'string' ? (URL.parse(url)?.searchParams.get('link') ?? null) : null
  return [token, secret, link].filter((one) => typeof one === 'string')
}
