import { defineApp } from 'gatehouse'
import { greet, noteOf, record, remember, wait } from './hooks.ts'
import { desks } from './resources/desks.ts'
import { notes } from './resources/notes.ts'
import { wishes } from './resources/wishes.ts'

/**
 * Roles and permissions of its own, none of which the specification has, rows that some members see only, and plans
 * with features and limits.
 */
export default defineApp({
  name: 'office',
  roles: {
    guest: [],
    clerk: ['desk:use', 'key:read', 'vault:open'], // which the manager cannot
    manager: ['desk:use', 'key:read', 'key:give'],
  },
  manages: 'manager',
  plans: {
    free: { limits: { desks: 2, wishes: 1 } },
    pro: {
      ...{ name: 'Professional', features: ['book-ahead'] },
      limits: { desks: 3, wishes: 'unlimited' },
    },
    team: {
      features: ['book-ahead', 'second-thoughts'],
      limits: { desks: 'unlimited', wishes: 'unlimited' },
    },
  },
  resources: [notes, desks, wishes],
  routes: { tenant: [() => import('./routes/floor-plan.ts')] },
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
