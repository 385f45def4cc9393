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
