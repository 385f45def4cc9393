import Fastify from 'fastify'
import t from 'tap'
import errors from '#plugins/http/errors.ts'
import underPressure from '#plugins/limits/under-pressure.ts'
import { untilTrue } from '#test/support/database/until.ts'

t.test('an overloaded process answers 503 with Retry-After, and recovers', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(underPressure, { maxEventLoopDelayMs: 100, graceMs: 0 })
  app.get('/', async () => 'done')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = () => app.inject('/')
  t.equal((await ask()).statusCode, 200)

  let answer = await ask()
  for (let turn = 0; turn < 100 && answer.statusCode === 200; turn++) {
    await new Promise(setImmediate)
    beBusy()
    answer = await ask()
  }
  t.equal(answer.statusCode, 503)
  t.equal(answer.headers['retry-after'], '5')
  t.match(answer.json(), {
    ...{ type: '/docs/errors/unavailable', status: 503 },
    detail: /its event loop is behind/,
  })

  await untilTrue(async () => (await ask()).statusCode === 200)
  t.equal((await ask()).statusCode, 200, 'relieved, it answers again')
})

t.test('the load during startup does not count', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(underPressure, { maxEventLoopDelayMs: 100, graceMs: 60_000 })
  app.get('/', async () => 'done')
  await app.listen({ host: '127.0.0.1', port: 0 })
  for (let turn = 0; turn < 10; turn++) {
    await new Promise(setImmediate)
    beBusy()
    t.equal((await app.inject('/')).statusCode, 200)
  }
})

/** Blocks the event loop. */
function beBusy(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250)
}
