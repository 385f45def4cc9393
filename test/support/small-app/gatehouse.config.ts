import { defineApp, everything } from 'gatehouse'
import { addTask, closeTasks } from './jobs.ts'
import { assets } from './resources/assets.ts'
import { issues } from './resources/issues.ts'
import { memos } from './resources/memos.ts'
import { pages } from './resources/pages.ts'
import { projects } from './resources/projects.ts'
import { tasks } from './resources/tasks.ts'

/**
 * One resource of each scope, every kind of field, and permissions of its own: what the core promises is tested on it
 * too, not on the sample alone.
 */
export default defineApp({
  name: 'small',
  roles: {
    viewer: ['task:read'],
    editor: ['task:read', 'task:write', 'page:edit'],
    accountant: ['task:read', 'task:write', 'task:close', 'asset:appraise'],
    admin: everything,
  },
  resources: [memos, tasks, pages, issues, projects, assets],
  jobs: [addTask, closeTasks],
})
