import { defineApp } from 'gatehouse'
import { hooks } from './hooks.ts'
import { fileNotes, fileNotesOf } from './jobs.ts'
import { notes } from './note.ts'

/** The smallest app: what a member of a tenant notes, and routes of its own. */
export default defineApp({
  name: 'notes',
  resources: [notes],
  jobs: [fileNotes, fileNotesOf],
  on: hooks,
  routes: { tenant: [() => import('./routes/title.ts'), () => import('./routes/report.ts')] },
})
