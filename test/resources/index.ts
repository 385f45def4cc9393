import { join } from 'node:path'
import type { RouteRows } from '#dev/testing/access/route-row.ts'
import { appFolder } from '#src/resources/running-app.ts'
import type { Settled } from '#test/access/matrix/settled.ts'
import type { Description } from './description.ts'
import { invoice } from './invoice.ts'

type OfApp = {
  readonly descriptions: readonly Description[]
  readonly routes: RouteRows
  readonly settled: Settled
  /** Its roles, if they are not those of the specification. */
  readonly roles?: Readonly<Record<string, readonly string[]>>
}

/** What the tests know about the app that this process runs: the sample, unless on-app.ts has chosen another. */
const ofApp: OfApp =
  appFolder === null
    ? { descriptions: [], routes: {}, settled: {} }
    : await import(join(appFolder, 'test/index.ts'))

/** Every declared resource a second time, from its specification. */
export const descriptions: readonly Description[] = [...ofApp.descriptions, invoice]

/** Who may call the further routes of the app. */
export const furtherRoutes: RouteRows = ofApp.routes

/** Cases about the app that the matrix must contain. */
export const settledOfApp: Settled = ofApp.settled

/** The roles that the app declares; null if they are those of the specification. */
export const rolesOfApp = ofApp.roles ?? null
