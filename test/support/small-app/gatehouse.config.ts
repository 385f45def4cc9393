import { defineApp } from 'gatehouse'
import { assets } from './resources/assets.ts'
import { memos } from './resources/memos.ts'
import { pages } from './resources/pages.ts'
import { tasks } from './resources/tasks.ts'

/** One resource of each scope, and every kind of field: what the core promises is tested on it too, not on the sample alone. */
export default defineApp({ name: 'small', resources: [memos, tasks, pages, assets] })
