import { defineJob } from 'gatehouse'
import Type from 'typebox'

/** Adds a task, and another one with the time of the first. */
export const addTask = defineJob({
  name: 'add-task',
  retries: 1,
  input: Type.Object({ title: Type.String({ minLength: 1 }), again: Type.Optional(Type.String()) }),
  async run({ tx, tenant, input, log, enqueue }) {
    const { title, again } = input
    await tx.sql`INSERT INTO tasks (tenant_id, title, status) VALUES (${tenant.id}::uuid, ${title}, 'open')`
    if (again !== undefined) await enqueue(addTask, { title: again })
    log.info({ length: title.length }, 'task added')
  },
})

/** Closes the tasks of the tenant. Its statement does not name it, so row-level security alone keeps to it. */
export const closeTasks = defineJob({
  name: 'close-tasks',
  schedule: '0 7 * * *',
  async run({ tx }) {
    await tx.sql`UPDATE tasks SET status = 'done', title = 'closed: ' || title WHERE status = 'open'`
  },
})
