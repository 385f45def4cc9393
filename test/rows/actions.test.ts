import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { orders } from '#shop/resources/orders.ts'
import { defineResource } from '#src/resources/kit/define.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { flag } from '#src/resources/kit/fields/numbers/flag.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { text } from '#src/resources/kit/fields/texts/text.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import { actionsOf } from '#src/rows/actions.ts'
import type { Declared } from '#src/rows/table.ts'
import { createOrder, createTestPost } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'

const shippingAddress = {
  ...{ name: 'Ada', line1: '2 Harbour Street', city: 'Porto' },
  ...{ postalCode: '4000-001', country: 'PT' },
}

const facts = {
  ...{ department: null, plan: null, serviceId: null, operator: false },
  ...{ tokenPermissions: null, sessionId: null, authenticatedSecondsAgo: null },
}

/** Orders whose change publishes an event of its own, with or without the standard one. */
function shippable(events: Record<string, string>): Declared {
  const update = {
    ...orders.actions.update,
    ...({ permission: null, token: 'order:write', accepts: ['shippingAddress'] } as const),
    async run(act: object, body: object) {
      const { update, publish } = act as {
        update(values: object): Promise<object>
        publish(event: string, row: object): Promise<void>
      }
      const order = await update(body)
      await publish('shipped', order)
      return order
    },
  }
  return { ...orders, events, actions: { ...orders.actions, update } }
}

t.test('events of an override are published in the tenant of an owner’s row', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const enter = await allowScopes(database)
  const ada = await createUser(database)
  const elsewhere = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [elsewhere.tenantId, ada.userId],
  )
  const id = await createOrder(database, { ...ada, tenantId: elsewhere.tenantId })
  const caller = { ...ada, ...facts, role: 'viewer' }
  const published = async (events: Record<string, string>) => {
    const { change } = actionsOf(shippable(events))
    await database.admin.query('DELETE FROM outbound_events')
    await db.write(enter(caller), (tx) =>
      change({ tx, caller, now: new Date() }, id, { shippingAddress }),
    )
    const { rows } = await database.admin.query(
      'SELECT tenant_id, type FROM outbound_events ORDER BY type',
    )
    return rows
  }
  const event = (type: string) => ({ tenant_id: elsewhere.tenantId, type })
  const shipped = { shipped: 'An order was shipped' }
  t.strictSame(await published(shipped), [event('order.shipped')])
  t.strictSame(await published({ ...shipped, updated: 'An order was changed' }), [
    event('order.shipped'),
    event('order.updated'),
  ])
})

t.test('an override of an update writes a further column only with `sets`', async (t) => {
  const fields = {
    ...{ id: id(), title: line(200), body: text(50_000) },
    ...{ createdAt: created(), updatedAt: updated() },
  }
  const common = { plural: 'posts', scope: 'tenant', fields } as const
  const read = { permission: 'post:read' } as const
  const posts = defineResource('post', {
    ...common,
    actions: {
      read,
      update: {
        ...{ permission: 'post:write', accepts: ['title'], sets: ['body'] },
        run: ({ update }, body) => update({ ...body, body: 'Set by the override' }),
      },
    },
  })
  defineResource('post', {
    ...common,
    actions: {
      read,
      update: {
        ...{ permission: 'post:write', accepts: ['title'] },
        // @ts-expect-error the statement would leave the column out
        run: ({ update }, body) => update({ ...body, body: 'Lost' }),
      },
    },
  })
  defineResource('post', {
    ...common,
    actions: { read, update: { permission: 'post:write', accepts: ['title'] } },
    own: {
      retitle: { permission: 'post:write', run: ({ update }) => update({ title: 'Of update' }) },
      fill: {
        ...{ permission: 'post:write', sets: ['body'] },
        run: ({ update }) => update({ title: 'Of update', body: 'Of the action itself' }),
      },
    },
  })
  defineResource('post', {
    ...common,
    actions: { read, update: { permission: 'post:write', accepts: ['title'] } },
    own: {
      // @ts-expect-error no action names the column, so the statement would leave it out
      fill: { permission: 'post:write', run: ({ update }) => update({ body: 'Lost' }) },
    },
  })
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const enter = await allowScopes(database)
  const ada = await createUser(database)
  const caller = { ...ada, ...facts, role: 'admin' }
  const post = await createTestPost(database, ada.tenantId)
  const changed = await db.write(enter(caller), (tx) =>
    actionsOf(posts).change({ tx, caller, now: new Date() }, post, { title: 'New' }),
  )
  t.match(changed, { title: 'New', body: 'Set by the override' })
})

t.test('a change of one statement returns every field as it is, whatever its name', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query('ALTER TABLE orders ADD is_due boolean NOT NULL DEFAULT true')
  const db = openPatiently(t, database.url, 1)
  const enter = await allowScopes(database)
  const ada = await createUser(database)
  const id = await createOrder(database, ada)
  const caller = { ...ada, ...facts, role: 'viewer' }
  const fields = { ...orders.fields, isDue: flag() }
  const { short } = actionsOf<Declared>({ ...orders, fields })
  const one = await short.change(caller, id, { shippingAddress }, new Date())
  if (one === null) throw new Error('it needs several statements')
  const order = await db.write(enter(caller), async (tx) =>
    one.read(await tx.sql(one.statement), tx),
  )
  t.match(order, { id, shippingAddress, isDue: true })
})
