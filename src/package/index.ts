/*
 * What an app declares itself with (`gatehouse`). Everything that is exported here is a promise: a test fails when it
 * changes without a line in CHANGELOG.md. It loads no part that depends on the app.
 */

export { Line, Text, Time, Uuid } from '#src/http/schemas.ts'
export {
  type App,
  type AppPage,
  type AppScope,
  type DemoOfApp,
  type DemoPerson,
  defineApp,
  type Load,
} from '#src/resources/define-app.ts'
export type { BillingFact, Hook, Hooks, PersonFact } from '#src/resources/define-hooks.ts'
export {
  defineJob,
  type Enqueue,
  type Job,
  type JobRun,
  type Publish,
} from '#src/resources/define-job.ts'
export { type AppSettings, defineSettings } from '#src/resources/define-settings.ts'
export {
  type Condition,
  type ConditionCaller,
  defineResource,
  type Permission,
  type Resource,
  type RowOf,
  type Scope,
} from '#src/resources/kit/define.ts'
export { computed } from '#src/resources/kit/fields/computed.ts'
export {
  described,
  type Field,
  field,
  hidden,
  initially,
  optional,
  renamed,
} from '#src/resources/kit/fields/field.ts'
export { json } from '#src/resources/kit/fields/json.ts'
export { folder } from '#src/resources/kit/fields/keys/folder.ts'
export { id } from '#src/resources/kit/fields/keys/id.ts'
export { member } from '#src/resources/kit/fields/keys/member.ts'
export { author, authorService, owner } from '#src/resources/kit/fields/keys/people.ts'
export { reference } from '#src/resources/kit/fields/keys/reference.ts'
export { tenant } from '#src/resources/kit/fields/keys/tenant.ts'
export { currency } from '#src/resources/kit/fields/numbers/currency.ts'
export { decimal } from '#src/resources/kit/fields/numbers/decimal.ts'
export { flag } from '#src/resources/kit/fields/numbers/flag.ts'
export { integer } from '#src/resources/kit/fields/numbers/integer.ts'
export { money } from '#src/resources/kit/fields/numbers/money.ts'
export { choice } from '#src/resources/kit/fields/texts/choice.ts'
export { email } from '#src/resources/kit/fields/texts/email.ts'
export { line } from '#src/resources/kit/fields/texts/line.ts'
export { lines } from '#src/resources/kit/fields/texts/lines.ts'
export { text } from '#src/resources/kit/fields/texts/text.ts'
export { url } from '#src/resources/kit/fields/texts/url.ts'
export { date } from '#src/resources/kit/fields/times/date.ts'
export { created, timestamp, updated } from '#src/resources/kit/fields/times/timestamp.ts'
export {
  allOf,
  anyOf,
  departmentOf,
  fieldIs,
  haveCredential,
  havePlan,
  haveRole,
  personOf,
  teamOf,
  type Visible,
} from '#src/resources/kit/visible.ts'
export type { Plans } from '#src/resources/plans.ts'
export { everything, type Roles } from '#src/resources/roles.ts'
