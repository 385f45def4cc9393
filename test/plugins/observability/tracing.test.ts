import Fastify from 'fastify'
import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import tracingPlugin from '#plugins/observability/tracing.ts'
import { startTracing } from '#src/observability/tracing.ts'
import { tracesOf } from '#test/support/app/collector.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
const forwarded = { ...headers, 'x-forwarded-for': '203.0.113.7' }

t.test('a trace is continued only if a trusted proxy forwarded the request', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const setup = { url: `${receiver.url}/v1/traces`, headers: {}, serviceName: 'x', ratio: 1 }
  const log = { info: () => t.fail(), warn: () => t.fail() }
  const cases: [string, string | false, Record<string, string>, boolean][] = [
    ['/trusted', '127.0.0.1', forwarded, true],
    ['/not-forwarded', '127.0.0.1', headers, false],
    ['/another-proxy', '10.0.0.1', forwarded, false],
    ['/no-proxy', false, forwarded, false],
  ]
  const tracing = await startTracing(setup, 'web', log)
  for (const [url, trustProxy, headers] of cases) {
    const app = Fastify({ trustProxy })
    t.teardown(() => app.close())
    await app.register(tracingPlugin, { tracing })
    app.get(url, async () => 'ok')
    t.equal((await app.inject({ url, headers })).statusCode, 200)
  }
  await tracing.stop()
  const spans = tracesOf(receiver.requests)
  for (const [url, , , isOnGoing] of cases) {
    const span = spans.find(({ name }) => name === `GET ${url}`)
    t.equal(span?.traceId === traceId, isOnGoing, url)
    t.equal(span?.parentSpanId !== undefined, isOnGoing, url)
  }
})
