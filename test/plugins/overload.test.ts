import Fastify from 'fastify'
import t from 'tap'
import errors from '#plugins/errors.ts'
import overload from '#plugins/overload.ts'

t.test('a process that cannot keep up answers 503 with Retry-After, and recovers', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(overload, { maxEventLoopDelayMs: 100 })
  app.get('/', async () => 'done')
  const ask = () => app.inject('/')
  t.equal((await ask()).statusCode, 200)

  let answer = await ask()
  for (let turn = 0; turn < 100 && answer.statusCode === 200; turn++) {
    await new Promise(setImmediate)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250) // nothing else runs meanwhile
    answer = await ask()
  }
  t.equal(answer.statusCode, 503)
  t.equal(answer.headers['retry-after'], '5')
  t.match(answer.json(), { type: 'urn:gatehouse:problem:unavailable', status: 503 })

  while ((await ask()).statusCode !== 200) await new Promise(setImmediate)
  t.equal((await ask()).statusCode, 200, 'relieved, it answers again')
})
