import { defineApp } from 'gatehouse'
import { declared, projects } from './kinds.ts'

/** A resource for each kind of field: docs/fields.md has what it does. */
export default defineApp({
  name: 'kinds',
  resources: [projects, ...declared.map(({ resource }) => resource)],
})
