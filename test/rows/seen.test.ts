import t from 'tap'
import { defineResource } from '#src/resources/kit/define.ts'
import { optional } from '#src/resources/kit/fields/field.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created, updated } from '#src/resources/kit/fields/times/timestamp.ts'
import { refuseUnseen, seenBy, seenInEvents, writesUnseen } from '#src/rows/seen.ts'

/* By a permission of the sample, which editors have and viewers lack. */

const task = defineResource('task', {
  ...{ plural: 'tasks', scope: 'tenant' },
  fields: {
    ...{ id: id(), title: line(9), createdAt: created(), updatedAt: updated() },
    rate: optional(line(9), { permission: 'post:write' }),
  },
  actions: { read: { permission: 'post:read' } },
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
