import { defineApp } from 'gatehouse'
import { greet, noteOf, record, remember, wait } from './hooks.ts'
import { notes } from './resources/notes.ts'

/** Roles and permissions of its own, none of which the specification has, and rows that some members see only. */
export default defineApp({
  name: 'office',
  roles: {
    guest: [],
    clerk: ['desk:use', 'key:read'],
    manager: ['desk:use', 'key:read', 'key:give'],
  },
  manages: 'manager',
  resources: [notes],
  jobs: [remember],
  on: {
    'user.created': noteOf('created'),
    'user.joined': greet,
    'user.left': noteOf('left'),
    'tenant.created': noteOf('founded'),
    'billing.charge.succeeded': record,
    'billing.subscription.created': wait,
  },
})
