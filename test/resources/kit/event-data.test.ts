import t from 'tap'
import Type from 'typebox'
import type { Tx } from '#src/db/database.ts'
import { created, defineResource, id, line, updated } from '#src/package/index.ts'
import type { Publish } from '#src/resources/define-job.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { publishOne } from '#src/rows/own-events.ts'

/* The data of events: the compiler refuses what the declaration does not say, and so does the program. */

const notes = defineResource('note', {
  plural: 'notes',
  scope: 'tenant',
  fields: { id: id(), title: line(200), createdAt: created(), updatedAt: updated() },
  actions: {
    read: { permission: 'note:read' },
    create: { permission: 'note:write', accepts: ['title'] },
    update: {
      ...{ permission: 'note:write', accepts: ['title'] },
      async run({ update, publish }, body, before) {
        await publish('introduced', { userId: before.id })
        // @ts-expect-error the payload has no such field
        await publish('introduced', { user: before.id })
        // @ts-expect-error the event is not declared
        await publish('archived', before)
        // @ts-expect-error an event without a payload is about the row
        await publish('closed', { userId: 1 })
        const row = await update(body)
        await publish('closed', row)
        return row
      },
    },
  },
  own: {
    hide: {
      ...{ permission: 'note:write', accepts: ['title'] },
      async run({ update, publish }, body) {
        // @ts-expect-error a number is no text
        await publish('introduced', { userId: '1' })
        return update(body)
      },
    },
  },
  events: { introduced: 'Somebody was introduced', closed: 'A note was closed' },
  payloads: { introduced: Type.Object({ userId: Type.Integer() }) },
})

/** What a hook, a job and a route publish. The compiler alone reads it. */
export const published = {
  async inWork(publish: Publish) {
    await publish(notes, 'introduced', { userId: 1 })
    // @ts-expect-error the payload has no such field
    await publish(notes, 'introduced', { user: 1 })
    // @ts-expect-error the event is not declared
    await publish(notes, 'archived', { userId: 1 })
    // @ts-expect-error an event without a payload is about the row
    await publish(notes, 'closed', { userId: 1 })
    await publish(notes, 'closed', { id: 1, title: 'x', createdAt: 'now', updatedAt: 'now' })
  },
  async inRoute(tx: Tx, now: Date) {
    const { publish } = actionsOf(notes)
    await publish(tx, 'tenant', 'introduced', { userId: 1 }, now)
    // @ts-expect-error the payload has no such field
    await publish(tx, 'tenant', 'introduced', { user: 1 }, now)
    // @ts-expect-error the event is not declared
    await publish(tx, 'tenant', 'archived', { userId: 1 }, now)
  },
}

t.test('a payload of an event that is not declared is refused by the compiler', async (t) => {
  const payloads = { removed: Type.Object({}) }
  const rest = {
    ...{ plural: 'notes', scope: 'tenant', fields: { id: id(), createdAt: created() } },
    ...{ actions: { read: { permission: 'note:read' } }, events: { closed: 'It was closed' } },
  } as const
  t.throws(
    // @ts-expect-error
    () => defineResource('note', { ...rest, payloads }),
    /payload of removed, which is not among the events/,
  )
})

t.test('what the compiler does not see is refused before anything is published', async (t) => {
  const now = new Date('2026-03-02T12:00:00Z')
  const publish = (event: string, data: object) =>
    publishOne(notes, {} as Tx, 'tenant', event, data, now)
  await t.rejects(publish('introduced', { user: 1 }), {
    message: /The data of the event note.introduced is not what payloads says/,
  })
  await t.rejects(publish('archived', {}), {
    message: 'The resource note has no event archived in events, which has introduced, closed.',
  })
})
