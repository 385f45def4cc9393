import { defineApp } from 'gatehouse'
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
})
