import t from 'tap'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('an admin sees what is to be expected of an endpoint; others do not', async (t) => {
  const { test, one, admin, stranger, viewer } = await webhookVisitors(await build(t))
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
  t.match(disabled, /Needs attention[\s\S]*>Disabled<[\s\S]*failed for five days/)
  t.match(disabled, /Endpoints receiving[\s\S]*0 of 1/)
  t.notMatch(disabled, 'certificate expires', 'it receives nothing, so nothing is expected of it')
})

t.test('an endpoint that fails or is paused is not called receiving', async (t) => {
  const { test, one, admin } = await webhookVisitors(await build(t))
  const id = await createEndpoint(test.database, one, { url: 'https://8.8.8.8/' })
  t.match((await admin.open('/')).body, /Endpoints receiving[\s\S]*1 of 1/)
  for (const [change, word] of [
    [`retrying_since = now(), failure_status = 500`, 'Retrying'],
    [`paused = 'hold', paused_at = now()`, 'Paused'],
  ] as const) {
    await test.database.admin.query(`UPDATE endpoint_states SET ${change} WHERE id = $1`, [id])
    const { body } = await admin.open('/')
    t.match(body, new RegExp(`Needs attention[\\s\\S]*>${word}<`))
    t.match(body, /Endpoints receiving[\s\S]*0 of 1/)
  }
})

t.test('of many endpoints that fail five are seen at once, and the others counted', async (t) => {
  const { test, one, admin } = await webhookVisitors(await build(t))
  let last = ''
  for (let n = 1; n <= 7; n++) {
    last = await createEndpoint(test.database, one, { url: `https://8.8.8.${n}/` })
  }
  await test.database.admin.query(
    `UPDATE endpoint_states SET retrying_since = now(), failure_status = 500`,
  )
  await test.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now() WHERE id = $1`,
    [last],
  )
  const [, listed = '', more = ''] = (await admin.open('/')).body.split('<ul class="attention">')
  t.match(listed, /^<li class="bad">.*8\.8\.8\.7/, 'first what no longer receives')
  t.equal(listed.split('<li').length - 1, 5)
  t.match(listed, /<details><summary>2 more<.summary>/)
  t.equal(more.split('</ul>')[0]?.split('<li').length, 3)
})

t.test('without operators the first person sees what to write into OPERATORS', async (t) => {
  const test = await build(t)
  const first = await owner(test)
  const second = await owner(test)
  await addIdentity(test, first.user.userId, 'one')
  await addIdentity(test, second.user.userId, 'two')
  const home = async ({ cookie }: typeof first, { app } = test) =>
    (await app.inject({ url: '/', headers: { cookie, accept: 'text/html' } })).body
  t.match(await home(first), /No one operates[\s\S]*<code id="operator-0">demo:one</)
  t.notMatch(await home(second), 'No one operates')
  const operated = await build(t, { OPERATORS: 'demo:ada' })
  t.notMatch(await home(await owner(operated), operated), 'No one operates')
})
