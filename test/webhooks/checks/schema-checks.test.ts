import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { createSchemaChecks } from '#src/webhooks/checks/schema-checks.ts'
import { startThread } from '#src/webhooks/checks/thread-port.ts'

type Options = Partial<Parameters<typeof createSchemaChecks>[0]>

const version = new Date(0)
const clock = { now: () => version } // stands still, so that no limit of slow checks empties
const exploding = JSON.stringify({ properties: { text: { pattern: '^([a-z]+ ?)+$' } } })
const slow = `${'a'.repeat(60)}!`

function setUp(t: Test, options: Options = {}) {
  const errors: string[] = []
  const log = { error: (_facts: object, message: string) => void errors.push(message) }
  const checks = createSchemaChecks({ clock, log, ...options })
  t.teardown(() => checks.close())
  const compile = (type: string, schema: string) =>
    checks.compile('any', [{ type, version, schema }])
  const check = (tenant: string, type: string, text: string) =>
    checks.check(tenant, [
      { type, version, body: JSON.stringify({ data: { text } }), pointer: '/data' },
    ])
  return { checks, compile, check, errors }
}

t.test('the event loop goes on while a check does not end', async (t) => {
  const { compile, check } = setUp(t)
  await compile('a', exploding)
  let turns = 0
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await t.rejects(check('greedy', 'a', slow), { code: 'malformed' })
  clearImmediate(next)
  t.ok(turns > 20, `${turns} turns`)
})

t.test('a tenant with many slow checks takes turns with others', async (t) => {
  const { compile, check } = setUp(t)
  await compile('a', exploding)
  const ended: string[] = []
  const greedy = Array.from({ length: 10 }, () =>
    check('greedy', 'a', slow).catch(({ code }) => ended.push(code)),
  )
  const other = check('other', 'a', 'a').then((faults) => {
    t.strictSame(faults, [[]])
    ended.push('other')
  })
  await Promise.all([...greedy, other])
  t.ok(ended.indexOf('other') <= 2, ended.join())
  t.equal(ended.length, 11)
  t.ok(ended.includes('too-many-requests'), 'also those that waited when the limit was reached')
})

t.test('about 2 MiB of schemas are kept, and the least recently used are dropped', async (t) => {
  const { compile, check } = setUp(t)
  const description = 'x'.repeat(600_000)
  const schema = JSON.stringify({ description, required: ['text'] })
  for (const type of ['a', 'b', 'c']) await compile(type, schema)
  t.strictSame(await check('any', 'a', 'x'), [[]])
  await compile('d', schema)
  t.equal(await check('any', 'b', 'x'), null, 'dropped')
  for (const type of ['a', 'c', 'd']) t.strictSame(await check('any', type, 'x'), [[]])
})

t.test('a thread that does not reply is replaced, and the waiting jobs are done', async (t) => {
  let started = 0
  const { compile, check, errors } = setUp(t, {
    silenceMs: 2_000,
    start(listeners) {
      started += 1
      if (started > 1) return startThread(listeners)
      setImmediate(() => listeners.reply({ kind: 'ready' }))
      return { send() {}, setBusy() {}, async end() {} }
    },
  })
  const first = check('one', 'a', 'x')
  const second = check('two', 'a', 'x')
  await t.rejects(first, { code: 'malformed', fields: [{ pointer: '/data' }] })
  t.equal(await second, null, 'by the next thread, which has compiled nothing yet')
  await compile('a', '{}')
  t.strictSame(await check('one', 'a', 'x'), [[]])
  t.strictSame([started, errors.length], [2, 1])
})

t.test(
  'a thread that cannot start refuses what waits, and the next request tries again',
  async (t) => {
    let started = 0
    const { compile } = setUp(t, {
      start(listeners) {
        started += 1
        if (started > 1) return startThread(listeners)
        setImmediate(() => listeners.ended(new Error('no memory')))
        return { send() {}, setBusy() {}, async end() {} }
      },
    })
    await t.rejects(compile('a', '{}'), { code: 'unavailable' })
    await compile('a', '{}')
    t.equal(started, 2)
  },
)

t.test('the thread does not keep a process alive', async (t) => {
  const file = fileURLToPath(
    new URL('../../../src/webhooks/checks/schema-checks.ts', import.meta.url),
  )
  const script = `
    import { createSchemaChecks } from ${JSON.stringify(file)}
    const checks = createSchemaChecks({ clock: { now: () => new Date() }, log: console })
    const waiting = setInterval(() => {}, 1_000)
    const data = { type: 'a', version: new Date(), body: '{}', pointer: '' }
    console.log(await checks.check('any', [data]))
    clearInterval(waiting)`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { timeout: 60_000 },
  )
  t.equal(stdout, 'null\n')
})
