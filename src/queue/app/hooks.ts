import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { BillingFact, PersonFact, PersonHookName } from '#src/resources/define-hooks.ts'
import { placeIn } from '#src/resources/load-app.ts'
import { app, appFolder, jobs } from '#src/resources/running-app.ts'
import { addRuns } from './enqueue.ts'
import { type RunDeps, runOf } from './run.ts'

/** The tenants that something has happened in: one, several, or a statement with a column `tenant`. */
type Tenants = string | readonly string[] | Prisma.Sql

/**
 * Adds the run of a hook of the app in the transaction of what has happened, if the app has the hook. It is a job of
 * the tenant, so people can sign in, and rights end, although a hook fails.
 */
export async function addHook(
  connection: Queryable,
  name: PersonHookName,
  tenants: Tenants,
  { userId }: PersonFact,
): Promise<void> {
  const hook = jobs.find((one) => one.isHook === true && one.name === name)
  if (hook === undefined) return
  await addRuns(connection, hook, JSON.stringify({ userId }), sourceOf(tenants))
}

function sourceOf(tenants: Tenants): Prisma.Sql {
  if (tenants instanceof Prisma.Sql) return tenants
  const ids = typeof tenants === 'string' ? [tenants] : [...tenants]
  return Prisma.sql`SELECT unnest(${ids}::text[]) AS tenant`
}

/** The hook of a billing event, in the transaction that processes it. */
export type BillingHook = {
  readonly name: string
  run(tx: Tx, tenantId: string, fact: BillingFact): Promise<void>
}

/** Finds the hook of a type of billing events; null if the app has none. */
export type FindBillingHook = (type: string) => BillingHook | null

export function billingHooks(deps: RunDeps): FindBillingHook {
  return (type) => {
    const name = `billing.${type}` as const
    const hook = app.on?.[name]
    if (hook === undefined) return null
    return {
      name,
      run: (tx, tenantId, input) => hook(runOf<BillingFact>(deps, { name, tenantId, tx, input })),
    }
  }
}

/** Why a hook failed or took too long, with its name and where the app declares it. */
export function failureOf(name: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error)
  const place = placeIn(appFolder, name)
  return new Error(`The hook ${name} of ${place} failed: ${reason}`, { cause: error })
}
