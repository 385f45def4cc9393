import t from 'tap'
import { hiddenColumnsFunction } from '#src/resources/hidden-columns.ts'
import { defineResource } from '#src/resources/kit/define.ts'
import { optional } from '#src/resources/kit/fields/field.ts'
import { id } from '#src/resources/kit/fields/keys/id.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { created } from '#src/resources/kit/fields/times/timestamp.ts'

const task = defineResource('task', {
  ...{ plural: 'tasks', scope: 'tenant' },
  fields: {
    ...{ id: id(), title: line(9), createdAt: created() },
    hourlyRate: optional(line(9), { permission: 'task:rate' }),
  },
  actions: { read: { permission: 'task:read' } },
})

t.test(
  'an export has a field with a permission only if the role that manages it has it',
  async (t) => {
    const columnsFor = (admin: readonly `${string}:${string}`[]) =>
      hiddenColumnsFunction({
        resources: [task],
        roles: { clerk: ['task:read', 'task:rate'], admin },
      })
    t.match(columnsFor(['task:read', 'task:rate']), `('tasks', 'hourly_rate', false)`)
    t.match(columnsFor(['task:read']), `('tasks', 'hourly_rate', true)`)
    t.notMatch(hiddenColumnsFunction({ resources: [] }), /VALUES\s*\)/)
  },
)
