import { hookJobsOf } from './define-hooks.ts'
import type { AnyJob } from './define-job.ts'
import { invoices } from './invoices.ts'
import type { Resource } from './kit/define.ts'
import { loadApp } from './load-app.ts'

/*
 * The app that this process runs. Policy, privileges, events, pages and SQL are composed from it, so it is loaded
 * before any of them.
 */

export const { app, folder: appFolder } = await loadApp()

/** Every declared resource: those of the app, and invoices, which billing writes. */
export const resources: readonly Resource[] = [...app.resources, invoices]

/** What workers do in the background: the jobs of the app, and its hooks about people and tenants. */
export const jobs: readonly AnyJob[] = [...(app.jobs ?? []), ...hookJobsOf(app.on)]

/** Whether workers run code of the app, which then may do what its actions may. */
export const worksInBackground = jobs.length > 0 || Object.keys(app.on ?? {}).length > 0
