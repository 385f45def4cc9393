import t from 'tap'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { portalOwner } from '#test/support/callers/portal.ts'

/** For the tests that look at tenants of their own only. */
const shared = await build(t)

const schema = {
  type: 'object',
  properties: { text: { type: 'string', description: '<i>What it says</i>' } },
  required: ['text'],
}

t.test('the catalogue has every type, with what its events contain and an example', async (t) => {
  const { test, admin, viewer } = await webhookVisitors(shared)
  const { use } = await appCaller(test)
  const description = `A <b>report</b> is done. ${'x'.repeat(300)}`
  const example = { text: '<u>done</u>' }
  await use('PUT', '/event-types/report.finished', { description, schema, example })
  await use('PUT', '/event-types/report.started', { description: 'It begins.' })

  const { body: list } = await admin.open('/app/event-types')
  for (const type of [...eventTypes, 'report.finished', 'report.started']) {
    t.match(list, `<a href="/app/event-types/${type}">${type}</a>`)
  }
  t.match(list, 'A &lt;b&gt;report&lt;/b&gt; is done. xxx')
  t.match(list, 'x…')
  t.notMatch(list, 'x'.repeat(200), 'the start of a long description')

  for (const type of eventTypes) {
    const { statusCode, body } = await admin.open(`/app/event-types/${type}`)
    t.equal(statusCode, 200, type)
    t.match(body, `<td><code>createdAt</code></td>`)
    t.match(body, `&quot;type&quot;: &quot;${type}&quot;`)
  }
  const order = (await admin.open('/app/event-types/order.updated')).body
  t.match(order, '<code>data.lineItems[].sku</code>')

  const finished = (await admin.open('/app/event-types/report.finished')).body
  t.match(finished, 'x'.repeat(300))
  t.match(finished, 'href="/app/events?type=report.finished"')
  t.match(finished, '&quot;description&quot;: &quot;&lt;i&gt;What it says&lt;/i&gt;&quot;')
  t.match(finished, '&quot;text&quot;: &quot;&lt;u&gt;done&lt;/u&gt;&quot;')
  t.match(finished, '&quot;type&quot;: &quot;report.finished&quot;', 'the whole event')
  t.notMatch(finished, /<[iub]>/)
  const started = (await admin.open('/app/event-types/report.started')).body
  t.match(started, '<code>data</code> is any JSON object')
  t.match(started, 'There is no example of this type')

  t.equal((await admin.open('/app/event-types/report.lost')).statusCode, 404)
  t.equal((await admin.open('/app/event-types/Report')).statusCode, 400)
  for (const path of ['/app/event-types', '/app/event-types/report.finished']) {
    t.equal((await viewer.open(path)).statusCode, 403, path)
  }
})

t.test('a customer of the app sees the catalogue in the portal', async (t) => {
  const { test } = await webhookVisitors(shared)
  const { app, enter } = await portalOwner(test)
  await app.use('PUT', '/event-types/report.finished', { description: 'A report is done.', schema })
  const visitor = await enter()
  const { body } = await visitor.open('/portal/event-types')
  t.match(body, /<a href="\/portal\/event-types" aria-current="page">/)
  t.match(body, '<a href="/portal/event-types/report.finished">report.finished</a>')
  const type = (await visitor.open('/portal/event-types/report.finished')).body
  t.match(type, 'A report is done.')
  t.match(type, '&quot;required&quot;')
  t.match((await visitor.open('/portal/event-types/report.lost')).body, 'Not found')
})
