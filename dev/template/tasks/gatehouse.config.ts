import { defineApp, everything } from 'gatehouse'
import { tasks } from './resources/tasks.ts'

export default defineApp({
  name: 'acme',
  roles: {
    viewer: ['task:read'],
    member: ['task:read', 'task:write'],
    admin: everything,
  },
  resources: [tasks],
})
