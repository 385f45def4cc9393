import {
  choice,
  created,
  date,
  defineApp,
  defineResource,
  id,
  integer,
  line,
  reference,
  updated,
} from 'gatehouse'

const times = { createdAt: created(), updatedAt: updated() }
const facts = { title: line(200), status: choice('open', 'done'), dueOn: date() }
const [read, write] = [{ permission: 'post:read' }, { permission: 'post:write' }] as const
const lists = { filters: ['status'], sort: ['dueOn'] } as const

const projects = defineResource('project', {
  ...{ plural: 'projects', scope: 'tenant', fields: { id: id(), title: line(200), ...times } },
  actions: { read, create: { ...write, accepts: ['title'] } },
})

/** What refers to two projects. */
const items = defineResource('item', {
  ...{ plural: 'items', scope: 'tenant', ...lists },
  fields: {
    ...{ id: id(), ...facts },
    projectId: reference('project', { onDelete: 'cascade' }),
    otherId: reference('project', { onDelete: 'cascade' }),
    ...times,
  },
  actions: {
    read,
    create: { ...write, accepts: ['title', 'status', 'dueOn', 'projectId', 'otherId'] },
  },
})

/** The same with numbers instead of references. */
const plainItems = defineResource('plain-item', {
  ...{ plural: 'plain_items', scope: 'tenant', ...lists },
  fields: { id: id(), ...facts, projectId: integer(), otherId: integer(), ...times },
  actions: {
    read,
    create: { ...write, accepts: ['title', 'status', 'dueOn', 'projectId', 'otherId'] },
  },
})

/** Resources with a filter, a sort and references, which the sample has not. */
export default defineApp({ name: 'listed', resources: [projects, items, plainItems] })
