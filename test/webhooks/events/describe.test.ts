import makeAjv from '@fastify/ajv-compiler'
import t from 'tap'
import { applyEvent } from '#src/billing/process.ts'
import { inlineSchemas } from '#src/http/openapi/components.ts'
import { type ApiDescription, exampleOf, type Schema } from '#src/http/openapi/examples.ts'
import { eventKindOf } from '#src/webhooks/events/kinds.ts'
import { subscriptionActivated } from '#src/webhooks/events/program-kinds.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { receive } from '#test/billing/received.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder, createTestPost } from '#test/support/callers/objects.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('every event that is sent matches its schema in the API description', async (t) => {
  const receiver = await openReceiver(t)
  const { test, one, send } = await twoAdmins(await build(t, allowing(receiver)))
  const { admin } = test.database
  const address = { name: 'Ada', line1: '2 Quay', city: 'Porto', postalCode: '4000', country: 'PT' }
  for (const shippingAddress of [address, { ...address, line2: 'Second floor' }]) {
    const order = await createOrder(test.database, one)
    t.equal((await send('PATCH', `/orders/${order}`, { shippingAddress })).statusCode, 200)
  }
  for (const department of ['sales', undefined]) {
    const post = await createTestPost(test.database, one.tenantId, department)
    t.equal((await send('PATCH', `/posts/${post}`, { title: 'New' })).statusCode, 200)
    t.equal((await send('DELETE', `/posts/${post}`)).statusCode, 204)
  }
  await startCallers(t, test)
  const endpoint = await createEndpoint(test.database, one, { url: receiver.url })
  for (const type of eventTypes) {
    const answer = await send('POST', `/webhook-endpoints/${endpoint}/test`, { type })
    t.equal(answer.statusCode, 200, `an example of ${type}`)
  }
  await admin.query(`UPDATE users SET billing_customer = 'cus_1' WHERE id = $1`, [one.userId])
  const db = openPatiently(t, test.database.workerUrl, 2)
  const object = { id: 'sub_1', customer: 'cus_1', status: 'active' }
  for (const event of [
    { id: 'evt_1', type: 'charge.succeeded' },
    { id: 'evt_2', type: 'subscription.created', object },
  ]) {
    await applyEvent(db, await receive(test.database, event), new Date())
  }

  const { rows } = await admin.query<{ type: string; body: string }>(
    'SELECT type, body FROM outbound_events',
  )
  const sent = new Set(rows.map(({ type }) => type))
  t.strictSame([...sent].toSorted(), [...eventTypes].toSorted(), 'every type was sent')
  const schemas = schemasOf((await test.app.inject('/openapi.json')).json())
  for (const { type, body } of rows)
    t.strictSame(faultsOf(schemas[type], JSON.parse(body)), [], type)
})

t.test('a missing, a further and a wrong field do not match', async (t) => {
  const { test } = await twoAdmins(await build(t))
  const schemas = schemasOf((await test.app.inject('/openapi.json')).json())
  for (const type of eventTypes) {
    const event = Object(exampleOf(schemas[type] ?? {}))
    t.strictSame(faultsOf(schemas[type], event), [], type)
    const [field = ''] = Object.keys(event.data)
    const { [field]: _, ...less } = event.data
    for (const data of [less, { ...event.data, more: 1 }, { ...event.data, [field]: {} }]) {
      t.not(faultsOf(schemas[type], { ...event, data }).length, 0, type)
    }
    t.not(faultsOf(schemas[type], { ...event, type: 'other' }).length, 0, type)
  }
})

t.test('each kind of event is listed by its own type', async (t) => {
  for (const type of eventTypes) t.equal(eventKindOf(type).type, type)
})

/** A body that its kind does not describe does not compile. */
export async function refusedByTheCompiler(...[tx, scope, , now]: Parameters<typeof publish>) {
  // @ts-expect-error a subscription has more fields
  await publish(tx, scope, { kind: subscriptionActivated, data: { userId: 1 } }, now)
}

/** The schemas of the webhooks, in which no object may have a field that is not described. */
function schemasOf(description: ApiDescription): Record<string, Schema> {
  const webhooks = Object.entries(inlineSchemas(description).webhooks ?? {})
  return Object.fromEntries(
    webhooks.map(([type, { post }]) => [
      type,
      closed(post?.requestBody?.content['application/json']?.schema),
    ]),
  )
}

function closed(schema: Schema | undefined): Schema {
  return JSON.parse(JSON.stringify(schema ?? false), (_key, value) =>
    Object(value).properties === undefined ? value : { ...value, additionalProperties: false },
  )
}

function faultsOf(schema: Schema | undefined, value: unknown): readonly unknown[] {
  const customOptions = { removeAdditional: false, coerceTypes: false, allErrors: true } as const
  const validate = makeAjv()({}, { customOptions })({ schema })
  return validate(value) ? [] : (validate.errors ?? ['not valid'])
}
