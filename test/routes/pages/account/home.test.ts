import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('an admin sees what is to be expected of an endpoint; others do not', async (t) => {
  const { test, one, admin, stranger, viewer } = await webhookVisitors(t)
  const id = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/<b>' })
  t.notMatch((await admin.open('/')).body, 'Needs attention', 'an endpoint that receives')

  const message = 'Its certificate expires in less than 3 days.'
  const forecasts = [
    { kind: 'certificate', since: '2026-01-01T00:00:00Z', message },
    { kind: 'certificate', since: '2026-01-01T00:00:00Z', message: 'It is <late>.' },
  ]
  await test.database.admin.query('UPDATE endpoint_states SET forecasts = $2 WHERE id = $1', [
    id,
    JSON.stringify(forecasts),
  ])
  const { body } = await admin.open('/')
  t.match(body, 'Needs attention')
  t.match(body, `https://8.8.8.8/&lt;b&gt;</bdi>: ${message}`)
  t.match(body, 'It is &lt;late&gt;.')
  t.equal(body.split(`<a href="/app/webhooks/${id}">`).length - 1, 2, 'a link for each forecast')
  for (const other of [stranger, viewer]) {
    t.notMatch((await other.open('/')).body, 'certificate expires')
  }

  await test.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now() WHERE id = $1`,
    [id],
  )
  const disabled = (await admin.open('/')).body
  t.match(disabled, 'is disabled and receives nothing since')
  t.notMatch(disabled, 'certificate expires', 'it receives nothing, so nothing is expected of it')
})
