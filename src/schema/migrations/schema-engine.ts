import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  DriverAdapterError,
} from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { survivesBrokenConnections } from '#src/db/connections/pool-options.ts'
import { withoutLimits, withSettings } from '#src/db/connections/session-settings.ts'
import { readBeside } from '#src/runtime/assets.ts'
import { untilSuccess } from '#src/runtime/lazy.ts'
import { lockWaitMs, untilLocked } from '../lock-retry.ts'
import { type Migration, migrationsFolder } from './applied.ts'

export type SchemaEngine = {
  engine: glue.SchemaEngine
  /** The migration that failed, with PostgreSQL's full error; the engine reports less. */
  failure(): { sql: string; error: Error } | null
  close(): Promise<void>
}

type Note = (sql: string, error: Error) => void

// The used part; neither the ECMAScript library nor Node's types declare it.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>
}

/**
 * Prisma's migration engine as WebAssembly over an ordinary connection: no engine binary is needed,
 * and its table `_prisma_migrations` is compatible with `prisma migrate`.
 * Must be closed: its session holds the engine's advisory lock, for which the next engine would wait.
 */
export async function openSchemaEngine(
  connectionString: string,
  datamodels?: [string, string][],
  adapterFor: (pool: pg.Pool, note: Note) => PrismaPg = (pool, note) =>
    new WholeScripts(pool, note, (script) => [script]),
): Promise<SchemaEngine> {
  let failure: { sql: string; error: Error } | null = null
  await loadEngineOnce()
  const pool = survivesBrokenConnections(
    new pg.Pool({ ...withSettings(connectionString, withoutLimits), max: 2 }),
  )
  const factory = bindMigrationAwareSqlAdapterFactory(
    adapterFor(pool, (sql, error) => {
      failure = { sql, error }
    }),
  )
  const engine = await glue.SchemaEngine.new({ datamodels }, () => {}, factory)
  return { engine, failure: () => failure, close: () => pool.end() }
}

/**
 * Sends a migration as one message, which PostgreSQL runs as one transaction; a single statement runs
 * without one. Prisma's adapter would split scripts at every semicolon, also in comments and function
 * bodies.
 */
export class WholeScripts extends PrismaPg {
  readonly #note: Note
  readonly #formOf: (script: string) => readonly string[]

  /** @param formOf the statements that are run for the script of a migration, or the whole script */
  constructor(pool: pg.Pool, note: Note, formOf: (script: string) => readonly string[]) {
    super(pool)
    this.#note = note
    this.#formOf = formOf
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect()
    adapter.executeScript = (script) =>
      runScript(adapter.underlyingDriver(), this.#formOf(script)).catch((error) => {
        this.#note(script, error)
        rethrowForEngine(error)
      })
    return adapter
  }
}

// CREATE INDEX CONCURRENTLY waits for older transactions and does not block other queries.
const concurrentWaitMs = 600_000

async function runScript(pool: pg.Pool, statements: readonly string[]): Promise<void> {
  const isConcurrent = statements.some((statement) => /\bCONCURRENTLY\b/i.test(statement))
  const client = await pool.connect()
  try {
    await client.query(`SET lock_timeout = ${isConcurrent ? concurrentWaitMs : lockWaitMs}`)
    if (isConcurrent) await runAll(client, statements)
    else await untilLocked(() => runAll(client, statements))
  } finally {
    client.release()
  }
}

/** Several statements run in one transaction; each is sent on its own. */
export async function runAll(client: pg.ClientBase, statements: readonly string[]): Promise<void> {
  if (statements.length === 1) {
    await client.query(statements.join())
    return
  }
  await client.query('BEGIN')
  try {
    for (const statement of statements) await client.query(statement)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/** The engine reports only errors of the adapter's own type. */
function rethrowForEngine(error: unknown): never {
  if (!(error instanceof pg.DatabaseError)) throw error
  const { code = '', severity = 'ERROR', message, detail, column, hint } = error
  throw new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint })
}

/** The migrations in the engine's format. */
export function migrationList(migrations: readonly Migration[]): glue.MigrationList {
  return {
    baseDir: migrationsFolder,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  }
}

/** No part of the schema is managed outside the migrations. */
export const noFilters: glue.SchemaFilter = { externalTables: [], externalEnums: [] }

// The glue code supports one instance per process; a second one would break the first.
const loadEngineOnce = untilSuccess(loadEngine)

/** Instantiates the WebAssembly directly, so that Node needs no loader flag. */
async function loadEngine(): Promise<void> {
  const bytes = await readBeside(
    '@prisma/schema-engine-wasm/schema_engine_bg',
    'schema_engine_bg.wasm',
  )
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': withUnrefTimers(glue),
  })
  glue.__wbg_set_wasm(instance.exports)
  const start = instance.exports.__wbindgen_start
  if (typeof start === 'function') start()
}

/** The engine never clears its 10 s lock timer; it must not keep the process alive. */
function withUnrefTimers(imports: object): Record<string, unknown> {
  const setUnrefTimeout = (callback: () => void, ms: number) => setTimeout(callback, ms).unref()
  return Object.fromEntries(
    Object.entries(imports).map(([name, value]) =>
      name.startsWith('__wbg_setTimeout_') ? [name, setUnrefTimeout] : [name, value],
    ),
  )
}
