import type pg from 'pg'
import type { Resource } from '#src/resources/kit/define.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Decisions } from '../app-tables/decisions.ts'
import { type Plan, planTables } from '../app-tables/plan.ts'
import { markComputed, readTables } from '../app-tables/present.ts'
import { type Migration, readCoreMigrations, readMigrations } from './applied.ts'
import { applyMigrations } from './apply.ts'

/** What the next migration of the app contains; null if its migrations make every declared table. */
export type Next = { readonly sql: string | null } & Pick<Plan, 'notes' | 'steps'>

/**
 * Compares the declarations with the tables that the migrations make.
 * @param owner of an empty database, in which every migration and then the next one is applied
 * @throws OperatorError if a change needs a decision, a migration fails, or PostgreSQL refuses the next one
 */
export async function nextMigration(
  ownerUrl: string,
  owner: pg.Client,
  resources: readonly Resource[],
  decisions: Decisions,
): Promise<Next> {
  await applyMigrations(ownerUrl, owner, await readCoreMigrations())
  const core = new Set((await readTables(owner)).keys())
  const known = await readMigrations()
  await applyMigrations(ownerUrl, owner, known)
  const plan = async (of: Decisions) => {
    const present = await markComputed(owner, resources, await readTables(owner))
    return planTables(resources, present, core, of)
  }
  const { steps, faults, notes } = await plan(decisions)
  refuse(faults)
  if (steps.length === 0) return { sql: null, steps, notes }
  const sql = scriptOf(steps)
  await tryOut(ownerUrl, owner, [...known, { name: 'next', sql }])
  const rest = await plan({ fills: new Map(), drops: new Set(), keeps: decisions.keeps })
  refuse(rest.faults)
  if (rest.steps.length > 0) {
    throw new OperatorError(
      `The statements do not make the declared tables; these would be missing: ${rest.steps.map(({ sql }) => sql).join(' ')}`,
      'Write the migration by hand (docs/migrations.md).',
    )
  }
  return { sql, steps, notes }
}

/** @throws OperatorError that names every fault with its remedy, if there is any */
function refuse(faults: Plan['faults']): void {
  const last = faults.at(-1)
  if (last === undefined) return
  const others = faults.slice(0, -1).map(({ problem, remedy }) => `${problem} ${remedy}`)
  throw new OperatorError([...others, last.problem].join('\n'), last.remedy)
}

function scriptOf(steps: Plan['steps']): string {
  const parts = steps.map(({ sql, warnings }) =>
    [...warnings.map((warning) => `-- ${warning}`), sql].join('\n'),
  )
  return `${parts.join('\n').replaceAll(/;\n(?=CREATE TABLE |-- )/g, ';\n\n')}\n`
}

async function tryOut(
  ownerUrl: string,
  owner: pg.Client,
  migrations: readonly Migration[],
): Promise<void> {
  try {
    await applyMigrations(ownerUrl, owner, migrations)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError(
      `PostgreSQL refuses the change: ${error.message.replace(/^.*rolled back: /, '')}`,
      'Nothing was written. Write a migration of your own for it (docs/migrations.md).',
    )
  }
}
