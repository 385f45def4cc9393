import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Environment } from '#src/config/parse.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { app } from '#src/resources/running-app.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Decisions } from '#src/schema/app-tables/decisions.ts'
import { type Next, nextMigration } from '#src/schema/migrations/next.ts'
import migrateCommand from '../database/migrate.ts'
import { requireAppFolder } from '../kit/app-folder.ts'
import { ask } from '../kit/ask.ts'
import { loadDevelopment } from '../kit/development.ts'
import { print, printMessage } from '../kit/output.ts'

export type Options = {
  readonly name?: string
  readonly fill?: Readonly<Record<string, string>>
  readonly drop?: readonly string[]
  readonly keep?: readonly string[]
  readonly check?: true
  readonly yes?: true
}

/**
 * `gatehouse migrate dev`: writes the migration that makes the tables as the resources of the app declare them, and
 * applies it to the development database if the developer says so, with the functions and policies.
 * @throws OperatorError without an app, in production, and if existing rows need a decision; with `check` if a
 *   migration is missing
 */
export default async function migrateDevCommand(env: Environment, options: Options): Promise<void> {
  const folder = requireAppFolder()
  if (env.NODE_ENV === 'production') {
    throw new OperatorError(
      'Migrations are written in development, and NODE_ENV is production.',
      'Run gatehouse migrate, which applies the written ones.',
    )
  }
  const next = await compare(app.resources, {
    fills: new Map(Object.entries(options.fill ?? {})),
    drops: new Set(options.drop),
    keeps: new Set(options.keep),
  })
  for (const note of next.notes) printMessage(note)
  if (next.sql === null) {
    print('The migrations make every declared table.')
    // Roles and rules are in no migration: functions and policies follow from them.
    if (options.yes && !options.check) await applyIfWanted(env, true)
    return
  }
  print(next.sql.trimEnd())
  if (options.check) {
    throw new OperatorError(
      `The migrations lack what the declarations say: ${next.steps.length} statements.`,
      'Run gatehouse migrate dev, read the migration and commit it.',
    )
  }
  await write(folder, next.sql, options.name ?? defaultName(next))
  await applyIfWanted(env, options.yes === true)
}

/**
 * Writes the migration that follows from the resources, without decisions about existing rows.
 * @returns its file; null if nothing is missing
 */
export async function writeMigration(
  folder: string,
  resources: readonly Resource[],
  name: string,
): Promise<string | null> {
  const none = { fills: new Map(), drops: new Set<string>(), keeps: new Set<string>() }
  const { sql } = await compare(resources, none)
  return sql === null ? null : write(folder, sql, name)
}

async function write(folder: string, sql: string, name: string): Promise<string> {
  const place = join(folder, 'migrations', await nameFor(join(folder, 'migrations'), name))
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'migration.sql'), sql, { flag: 'wx' })
  print(`written ${join(place, 'migration.sql')}`)
  return join(place, 'migration.sql')
}

/** Compares with a database of its own, which the migrations have made and which ends with the command. */
async function compare(resources: readonly Resource[], decisions: Decisions): Promise<Next> {
  const { withEmptyDatabase } = await loadDevelopment()
  return withEmptyDatabase(async (ownerUrl) => {
    const owner = new pg.Client({ connectionString: ownerUrl })
    await owner.connect()
    return nextMigration(ownerUrl, owner, resources, decisions).finally(() => owner.end())
  })
}

const mostCharacters = 40

/** The tables that change. */
function defaultName({ steps }: Next): string {
  const tables = steps.map(({ sql }) => /^(?:CREATE|ALTER|DROP) TABLE (\w+)| ON (\w+)/.exec(sql))
  const names = new Set(tables.flatMap((match) => match?.[1] ?? match?.[2] ?? []))
  return [...names].join('_').slice(0, mostCharacters)
}

/** Folders are applied in the order of their names, so the new one comes after all others. */
async function nameFor(folder: string, name: string): Promise<string> {
  const present = await readdir(folder).catch(() => [])
  const last = Math.max(0, ...present.map((one) => Number(/^\d{14}(?=_)/.exec(one)?.[0] ?? 0)))
  const now = Number(new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14))
  return `${Math.max(now, last + 1)}_${name}`
}

/** The development database is the one of DATABASE_OWNER_URL, or that of the demo that runs in this folder. */
async function applyIfWanted(env: Environment, isWanted: boolean): Promise<void> {
  const { findRunningDemo } = await loadDevelopment()
  const running = env.DATABASE_OWNER_URL ? null : await findRunningDemo()
  const url = env.DATABASE_OWNER_URL || running?.env.DATABASE_OWNER_URL
  if (url === undefined) return print('The demo applies it when it starts.')
  const { host, pathname } = new URL(url)
  const isApplied =
    isWanted ||
    /^y(es)?$/i.test((await ask(`Apply it to ${pathname.slice(1)} at ${host}? [y/N]`)) ?? '')
  if (isApplied) return migrateCommand(env, {})
  print('Not applied. gatehouse migrate applies it.')
}
