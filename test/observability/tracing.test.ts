import { registerHooks } from 'node:module'
import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import type { Tracing } from '#src/observability/tracing.ts'
import { attributeOf, tracesOf } from '#test/support/app/collector.ts'
import { customerUrlSecret, playJourney, serveJourney } from '#test/support/app/journey.ts'
import { untilTrue } from '#test/support/database/until.ts'

const loaded: string[] = []
registerHooks({
  resolve(specifier, context, next) {
    if (/opentelemetry|fastify\/otel/.test(specifier)) loaded.push(specifier)
    return next(specifier, context)
  },
})

t.test('without an endpoint tracing is off and no library is loaded', async (t) => {
  const { send, stop } = await serveJourney(t)
  t.equal((await send('/')).status, 200)
  await stop()
  t.strictSame(loaded, [])
})

t.test('requests, their transactions, billing events and deliveries are traced', async (t) => {
  const collector = await startReceiver()
  t.teardown(() => collector.close())
  const journey = await serveJourney(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20the%20collector',
    OTEL_SERVICE_NAME: 'front',
  })
  const secrets = await playJourney(journey)
  const done = [
    'billing_events_worked_total{outcome="processed"}',
    'deliveries_total{outcome="succeeded"}',
  ]
  await untilTrue(async () => {
    const text = await journey.scrape()
    return done.every((name) => text.includes(`gatehouse_${name} 1\n`))
  })
  await journey.stop()
  t.ok(loaded.length > 0)
  t.match(collector.requests[0], { url: '/v1/traces', headers: { 'x-key': 'of the collector' } })
  const spans = tracesOf(collector.requests)
  const named = (name: string) => spans.filter((span) => span.name === name)

  const [callback] = named('GET /auth/callback').slice(-1)
  t.match(callback && attributeOf(callback, 'url.path'), '/auth/callback')
  t.equal(callback && attributeOf(callback, 'http.response.status_code'), 302)
  t.ok(callback && attributeOf(callback, 'gatehouse.request_id'))
  t.ok(
    named('identity transaction').some(({ traceId }) => traceId === callback?.traceId),
    'the transaction of a request is in its trace',
  )
  const [changed] = named('PATCH /orders/:id')
  t.ok(named('database write').some(({ traceId }) => traceId === changed?.traceId))
  const [event] = named('billing event').slice(-1)
  t.equal(event && attributeOf(event, 'gatehouse.event_id'), 'evt_1')
  t.equal(event && attributeOf(event, 'gatehouse.outcome'), 'processed')
  t.same(
    named('delivery attempt').map((span) => attributeOf(span, 'http.response.status_code')),
    [500, 204],
  )

  const linkOf = (span?: (typeof spans)[number]) => span?.links?.[0]?.spanId
  const received = named('POST /webhooks/billing').map(({ spanId }) => spanId)
  t.ok(received.includes(String(linkOf(event))), 'a job is linked to the request')
  t.strictSame(named('delivery attempt').map(linkOf), [changed?.spanId, changed?.spanId])

  const sent = collector.requests.map(({ body }) => body.toString()).join('\n')
  t.match(sent, '"stringValue":"front"')
  for (const secret of secrets) t.notOk(sent.includes(secret), 'no secret in a span')
  t.notOk(sent.includes(customerUrlSecret))
  // No queries, error messages, addresses or personal data.
  t.notMatch(
    JSON.stringify(spans),
    /[?&](code|state|key)=|127\.0\.0\.1|@|stack|user.agent|SELECT|INSERT/i,
  )
  for (const { status, events } of spans) t.notOk(status.message ?? events?.[0])
})

t.test('an unavailable collector is logged once and does not affect the work', async (t) => {
  const collector = await startReceiver((_request, response) => response.writeHead(400).end())
  t.teardown(() => collector.close())
  const said: string[] = []
  const log = {
    info: (_facts: object, message: string) => void said.push(message),
    warn: (_facts: object, message: string) => void said.push(message),
  }
  const { startTracing } = await import('#src/observability/tracing.ts')
  const setup = { url: `${collector.url}/v1/traces`, headers: {}, serviceName: 'x', ratio: 1 }
  const tracing = await startTracing(setup, 'web', log)
  await fillBatch(tracing)
  await collector.next()
  await fillBatch(tracing)
  await collector.next()
  collector.respond((_request, response) => response.writeHead(200).end('{}'))
  await fillBatch(tracing)
  await collector.next()
  collector.respond(() => {}) // takes the bytes and never answers
  await fillBatch(tracing)
  await tracing.stop()
  t.strictSame(said, ['traces cannot be exported', 'traces are exported again'])
})

t.test('the result and the error of the work are passed on', async (t) => {
  const { startTracing, untraced } = await import('#src/observability/tracing.ts')
  const setup = { url: 'http://127.0.0.1:9/v1/traces', headers: {}, serviceName: 'x', ratio: 0 }
  for (const tracing of [await startTracing(setup, 'web', { info() {}, warn() {} }), untraced]) {
    for (const run of [tracing.span, tracing.step]) {
      t.equal(await run('work', {}, async () => 7), 7)
      const failure = new Error('of the work')
      await t.rejects(
        run('work', {}, async () => {
          throw failure
        }),
        failure,
      )
    }
    await tracing.stop()
  }
})

/** Enough spans to trigger an export. */
async function fillBatch(tracing: Tracing): Promise<void> {
  const work = Array.from({ length: 600 }, (_, n) => tracing.span('work', {}, async () => n))
  await Promise.all(work)
}
