import t from 'tap'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('a test of an endpoint that hangs is recorded with every OUTBOUND_TIMEOUT_MS', async (t) => {
  const receiver = await openReceiver(t, () => {})
  const { test, one, send } = await twoAdmins(
    await build(t, {
      ...allowing(receiver),
      OUTBOUND_TIMEOUT_MS: '30000',
    }),
  )
  const id = await createEndpoint(test.database, one, { url: receiver.url })
  await startCallers(t, test)
  const tested = await send('POST', `/webhook-endpoints/${id}/test`)
  t.equal(tested.statusCode, 200, tested.body)
  t.match(tested.json(), {
    status: 'exhausted',
    attempts: [{ statusCode: null, error: /timed out/ }],
  })
})
