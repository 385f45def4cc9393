import { defineApp } from 'gatehouse'

/** Roles and permissions of its own, none of which the specification has. */
export default defineApp({
  name: 'office',
  roles: {
    guest: [],
    clerk: ['desk:use', 'key:read'],
    manager: ['desk:use', 'key:read', 'key:give'],
  },
  manages: 'manager',
  resources: [],
})
