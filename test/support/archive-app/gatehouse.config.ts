import { defineApp } from 'gatehouse'
import { notes } from './resources/notes.ts'
import { keys, rooms } from './resources/rooms.ts'

/** Rows that some members see only, below rows that everybody sees, beside rows that some may not read. */
export default defineApp({
  name: 'archive',
  roles: { clerk: ['desk:use'], manager: ['desk:use', 'key:give'] },
  manages: 'manager',
  resources: [notes, rooms, keys],
  routes: { tenant: [() => import('./routes/pings.ts')] },
})
