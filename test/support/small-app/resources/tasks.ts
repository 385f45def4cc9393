import {
  author,
  authorService,
  type Condition,
  choice,
  created,
  defineResource,
  described,
  id,
  initially,
  line,
  tenant,
  updated,
} from 'gatehouse'
import Type from 'typebox'

const done: Condition<{ readonly status: string }> = {
  name: 'task-done',
  words: 'only while it is open',
  detail: 'The task is done already.',
  forbids: ({ object }) => object.status === 'done',
}

/** What a tenant has to do. */
export const tasks = defineResource('task', {
  plural: 'tasks',
  scope: 'tenant',
  forServices: true,
  fields: {
    id: id(),
    tenantId: tenant(),
    authorId: author('null after the author has left, or if it was a service'),
    authorServiceId: authorService(),
    title: line(200),
    status: described(
      initially(choice('open', 'done'), () => 'open' as const),
      'How far the work is; done tasks are kept',
    ),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['status', 'authorId'],
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['title'] },
    update: { permission: 'task:write', accepts: ['title', 'status'] },
    delete: { permission: 'task:close' },
  },
  own: {
    finish: {
      permission: 'task:write',
      unless: [done],
      event: 'finished',
      run: ({ update }) => update({ status: 'done' }),
    },
    remind: {
      permission: 'task:write',
      sets: ['title'],
      async run({ publish }, _body, before) {
        await publish('reminded', { taskId: before.id, letters: before.title.length })
        return before
      },
    },
    rename: { permission: 'task:close', accepts: ['title'], button: 'Give another title' },
  },
  events: {
    created: 'A task was added',
    deleted: 'A task was deleted',
    finished: 'A task was finished',
    reminded: 'Somebody was reminded of a task',
  },
  payloads: {
    reminded: Type.Object({ taskId: Type.Integer(), letters: Type.Integer({ minimum: 3 }) }),
  },
  page: { label: 'Tasks', heading: 'title', columns: ['status', 'authorId'] },
})
