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
export {
  type Condition,
  defineResource,
  type Permission,
  type Resource,
  type RowOf,
  type Scope,
} from '#src/resources/kit/define.ts'
export {
  author,
  authorService,
  choice,
  created,
  currency,
  type Field,
  field,
  flag,
  folder,
  hidden,
  id,
  initially,
  integer,
  json,
  line,
  optional,
  owner,
  tenant,
  text,
  updated,
} from '#src/resources/kit/fields.ts'
