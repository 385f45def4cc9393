import t from 'tap'
import { playJourney, serveJourney } from '#test/support/app/journey.ts'
import { untilTrue } from '#test/support/database/until.ts'

t.test('events are counted, and no secret is logged', async (t) => {
  const journey = await serveJourney(t, { RATE_LIMIT_WEBHOOKS: '3/60' })
  const { scrape, send, log } = journey
  const secrets = await playJourney(journey)
  await send('/webhooks/billing', { method: 'POST', body: {} })
  await send('/webhooks/billing', { method: 'POST', body: {} })

  const counted: readonly string[] = [
    'gatehouse_sign_ins_total{provider="demo",purpose="sign-in",outcome="done",reason=""} 1',
    'gatehouse_sign_ins_total{provider="demo",purpose="sign-in",outcome="refused",reason="provider-error"} 1',
    'gatehouse_sign_ins_total{provider="unknown",purpose="unknown",outcome="refused",reason="bad-state"} 1',
    'gatehouse_sessions_ended_total{reason="sign-out"} 1',
    'gatehouse_refusals_total{code="forbidden",reason="permission-missing"} 1',
    'gatehouse_refusals_total{code="invalid-token",reason=""} 1',
    'gatehouse_refusals_total{code="too-many-requests",reason="webhooks"} 2',
    'gatehouse_webhook_requests_total{outcome="recorded"} 1',
    'gatehouse_webhook_requests_total{outcome="duplicate"} 1',
    'gatehouse_webhook_requests_total{outcome="bad_signature"} 1',
    'gatehouse_webhook_requests_total{outcome="rate_limited"} 2',
    'gatehouse_webhook_stage_seconds_count{stage="verify"} 3',
    'gatehouse_webhook_stage_seconds_count{stage="record"} 2',
    'gatehouse_billing_events_worked_total{outcome="processed"} 1',
    'gatehouse_delivery_attempts_total{outcome="failed"} 1',
    'gatehouse_delivery_attempts_total{outcome="succeeded"} 1',
    'gatehouse_deliveries_total{outcome="succeeded"} 1',
    'gatehouse_http_request_duration_seconds_count{method="GET",route="/auth/callback",status="302"} 1',
    'gatehouse_http_request_duration_seconds_count{method="GET",route="/auth/callback",status="400"} 2',
    'gatehouse_http_request_duration_seconds_count{method="DELETE",route="/posts/:id",status="403"} 1',
    'gatehouse_http_request_duration_seconds_count{method="POST",route="/webhooks/billing",status="429"} 2',
    'gatehouse_database_measured 1',
    'gatehouse_tenant_lock_proven 1',
    'gatehouse_info{version="0.1.0",role="all"} 1',
    'gatehouse_sign_in_outcomes_total{provider="demo",outcome="done"} 1',
    'gatehouse_sign_in_outcomes_total{provider="demo",outcome="refused"} 1',
    'gatehouse_sign_in_outcomes_total{provider="demo",outcome="unavailable"} 0',
  ]
  // A job is counted when its result is recorded, which is after its effect is visible.
  let text = await scrape()
  await untilTrue(async () => {
    text = await scrape()
    return counted.slice(13, 17).every((line) => text.includes(line))
  })
  for (const line of counted) t.ok(text.includes(`${line}\n`), line)
  for (const pool of ['scoped', 'identity', 'inbox', 'jobs', 'jobs-identity']) {
    t.match(text, new RegExp(`pool_acquire_seconds_count\\{pool="${pool}"\\} [1-9]`))
    // A job may be waiting for a connection at this moment.
    const idle = `gatehouse_database_pool_waiting{pool="${pool}"} 0\n`
    await untilTrue(async () => (await scrape()).includes(idle))
  }
  t.match(text, /^gatehouse_webhook_stage_seconds_count\{stage="process"\} [1-9]/m)
  t.match(text, /^nodejs_eventloop_lag_p99_seconds /m, 'the event loop')

  t.ok(log.length > 10 && secrets.length > 20)
  for (const secret of secrets) t.notOk(log.join('').includes(secret), 'no secret in the log')
  t.notMatch(log.join(''), /"path":"[^"]*\?/, 'no query in the log')
  for (const line of log) t.match(JSON.parse(line), { level: String, time: /Z$/, msg: String })
})
