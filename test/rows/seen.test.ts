import t from 'tap'
import type { Tx } from '#src/db/database.ts'
import { defineResource } from '#src/resources/kit/define.ts'
import { optional } from '#src/resources/kit/fields/field.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { refuseUnseen, seenBy, seenInEvents, writesUnseen } from '#src/rows/seen.ts'
import type { Declared } from '#src/rows/table.ts'

/* By a permission of the sample, which editors have and viewers lack. */

const task = defineResource('task', {
  ...{ plural: 'tasks', scope: 'tenant' },
  fields: {
    ...{ id: id(), title: line(9), createdAt: created(), updatedAt: updated() },
    rate: optional(line(9), { permission: 'post:write' }),
  },
  actions: { read: { permission: 'post:read' } },
})
const nobody = {
  ...{ userId: 1, tenantId: null, department: null, plan: null, serviceId: null, operator: false },
  ...{ tokenPermissions: null, sessionId: null, authenticatedSecondsAgo: null },
}
const unreadable = new Proxy({} as Tx, {
  get() {
    throw new Error('a statement')
  },
})
const row = { id: 1, title: 'x', rate: '90' }
const lacking = [
  { role: 'viewer', tokenPermissions: null },
  { role: 'editor', tokenPermissions: ['post:read'] },
  { role: null, tokenPermissions: ['post:write'] },
  { role: 'nobody', tokenPermissions: null },
  { role: 'editor' },
  {},
]
const having = [
  { role: 'editor', tokenPermissions: null },
  { role: 'admin', tokenPermissions: ['post:write'] },
]

t.test('a caller without the permission neither sees nor writes the field', async (t) => {
  for (const caller of lacking) {
    t.strictSame(seenBy(task, caller, row), { id: 1, title: 'x' }, JSON.stringify(caller))
    t.ok(writesUnseen(task, caller, { rate: null }))
    t.throws(() => refuseUnseen(task, caller, { title: 'y', rate: null }), {
      code: 'forbidden',
      fields: [{ in: 'body', pointer: '/rate', detail: 'needs the permission post:write' }],
    })
    t.notOk(writesUnseen(task, caller, { title: 'y' }))
    t.doesNotThrow(() => refuseUnseen(task, caller, { title: 'y' }))
  }
  t.equal(seenBy(task, {}, null), null)
})

t.test('a caller with it does both, and an event has it for nobody', async (t) => {
  for (const caller of having) {
    t.strictSame(seenBy(task, caller, row), row)
    t.notOk(writesUnseen(task, caller, row))
    t.doesNotThrow(() => refuseUnseen(task, caller, row))
  }
  t.strictSame(seenInEvents(task, row), { id: 1, title: 'x' })
})

t.test('an action of the app’s own refuses the field before it reads the row', async (t) => {
  const rating = {
    ...task,
    own: { rate: { permission: 'post:read', accepts: ['title', 'rate'] } },
  } as Declared
  const { perform } = actionsOf(rating)
  const act = { tx: unreadable, caller: { ...nobody, role: 'viewer' }, now: new Date() }
  const rate = (body: object) => perform(act, { name: 'rate', id: 1, body: { ...body } })
  await t.rejects(rate({ title: 'y', rate: '1' }), {
    code: 'forbidden',
    fields: [{ in: 'body', pointer: '/rate', detail: 'needs the permission post:write' }],
  })
  await t.rejects(rate({ title: 'y' }), { message: 'a statement' }, 'only the field is refused')
})
