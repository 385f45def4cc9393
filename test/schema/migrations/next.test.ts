import pg from 'pg'
import t, { type Test } from 'tap'
import { field, initially } from '#src/resources/kit/fields/field.ts'
import { flag } from '#src/resources/kit/fields/numbers/flag.ts'
import { app } from '#src/resources/running-app.ts'
import type { Decisions } from '#src/schema/app-tables/decisions.ts'
import { nextMigration } from '#src/schema/migrations/next.ts'
import { createUnmigratedDatabase } from '#test/support/database/database.ts'

const [first, ...others] = app.resources
if (first === undefined) throw new Error('The app has no resource.')

async function next(t: Test, resources = app.resources, fills: Decisions['fills'] = new Map()) {
  const { ownerUrl } = await createUnmigratedDatabase(t)
  const owner = new pg.Client({ connectionString: ownerUrl })
  await owner.connect()
  t.teardown(() => owner.end())
  return nextMigration(ownerUrl, owner, resources, { fills, drops: new Set(), keeps: new Set() })
}

t.test('the migrations of the app make every declared table', async (t) => {
  t.strictSame(await next(t), { sql: null, steps: [], notes: [] })
})

t.test('the next migration has its warnings as comments, and was tried out', async (t) => {
  const fields = { ...first.fields, isUrgent: initially(flag(), () => false) }
  const fills = new Map([[`${first.name}.isUrgent`, 'true']])
  const { sql } = await next(t, [{ ...first, fields }, ...others], fills)
  t.equal(
    sql,
    `-- Existing rows get 'true'. What tenants store is counted when it is written: run gatehouse usage check --repair afterwards.
ALTER TABLE ${first.plural} ADD COLUMN is_urgent boolean NOT NULL DEFAULT 'true';
ALTER TABLE ${first.plural} ALTER COLUMN is_urgent DROP DEFAULT;
`,
  )
})

t.test('a type that PostgreSQL does not make of the other is refused', async (t) => {
  const fields = { ...first.fields, createdAt: field('jsonb', flag().shown) }
  await t.rejects(next(t, [{ ...first, fields }, ...others]), {
    message: /^PostgreSQL refuses the change: cannot cast type timestamp with time zone to jsonb/,
    remedy: /^Nothing was written\. Write a migration of your own/,
  })
})

t.test('a change that needs a decision is refused with all that do', async (t) => {
  const fields = { ...first.fields, isUrgent: flag(), isOpen: flag() }
  await t.rejects(next(t, [{ ...first, fields }, ...others]), {
    message: new RegExp(
      `The field ${first.name}\\.isUrgent is new .*\nThe field ${first.name}\\.isOpen is new`,
    ),
    remedy: new RegExp(`^Give them one with --fill ${first.name}\\.isOpen=VALUE`),
  })
})
