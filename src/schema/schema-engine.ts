import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  DriverAdapterError,
} from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { readAsset } from '#src/runtime/assets.ts'
import { type Migration, migrationsFolder } from './history.ts'
import { lockWaitMs, untilLocked } from './lock-retry.ts'

export type SchemaEngine = {
  engine: glue.SchemaEngine
  /** The migration that failed, in the words of PostgreSQL, of which the engine leaves out some. */
  failure(): { sql: string; error: Error } | null
  close(): Promise<void>
}

type Note = (sql: string, error: Error) => void

// Neither the ECMAScript library nor Node's types declare it; this is the part used here.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>
}

/**
 * Prisma's own migration engine as WebAssembly, over an ordinary connection: no engine binary is
 * downloaded, and what it writes (`_prisma_migrations`) is what `prisma migrate` reads.
 * Close it: its session keeps the engine's advisory lock, and the next engine would wait for it.
 */
export async function openSchemaEngine(
  connectionString: string,
  datamodels?: [string, string][],
  adapterFor: (pool: pg.Pool, note: Note) => PrismaPg = (pool, note) =>
    new WholeScripts(pool, note),
): Promise<SchemaEngine> {
  let failure: { sql: string; error: Error } | null = null
  engineLoaded ??= loadEngine()
  await engineLoaded
  const pool = new pg.Pool({ connectionString, max: 2 })
  const factory = bindMigrationAwareSqlAdapterFactory(
    adapterFor(pool, (sql, error) => {
      failure = { sql, error }
    }),
  )
  const engine = await glue.SchemaEngine.new({ datamodels }, () => {}, factory)
  return { engine, failure: () => failure, close: () => pool.end() }
}

/**
 * Sends a migration as one message: PostgreSQL then runs it as one transaction, all or nothing, and
 * a single statement as it is. The adapter itself splits scripts at every semicolon, comments and
 * function bodies included.
 */
class WholeScripts extends PrismaPg {
  readonly #note: Note

  constructor(pool: pg.Pool, note: Note) {
    super(pool)
    this.#note = note
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect()
    adapter.executeScript = (script) =>
      runScript(adapter.underlyingDriver(), script).catch((error) => {
        this.#note(script, error)
        rethrowForEngine(error)
      })
    return adapter
  }
}

// What is built CONCURRENTLY waits for transactions, for as long as they take, and holds nobody up.
const concurrentWaitMs = 600_000

async function runScript(pool: pg.Pool, script: string): Promise<void> {
  const isConcurrent = /\bCONCURRENTLY\b/i.test(script)
  const client = await pool.connect()
  try {
    await client.query(`SET lock_timeout = ${isConcurrent ? concurrentWaitMs : lockWaitMs}`)
    if (isConcurrent) await client.query(script)
    else await untilLocked(() => client.query(script))
  } finally {
    client.release()
  }
}

/** The engine only prints errors of the adapter's own kind. */
function rethrowForEngine(error: unknown): never {
  if (!(error instanceof pg.DatabaseError)) throw error
  const { code = '', severity = 'ERROR', message, detail, column, hint } = error
  throw new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint })
}

/** The migrations as the engine takes them. */
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

/** Nothing in the schema is managed by somebody else. */
export const noFilters: glue.SchemaFilter = { externalTables: [], externalEnums: [] }

// The glue keeps one instance per process; loading a second one breaks the first.
let engineLoaded: Promise<void> | undefined

/** The bytes are read and instantiated here, so no loader flag is needed. */
async function loadEngine(): Promise<void> {
  const bytes = await readAsset('node_modules/@prisma/schema-engine-wasm/schema_engine_bg.wasm')
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': holdingNoTimers(glue),
  })
  glue.__wbg_set_wasm(instance.exports)
  const start = instance.exports.__wbindgen_start
  if (typeof start === 'function') start()
}

/** The engine never clears the timer of its 10 s lock limit; the program need not wait for it. */
function holdingNoTimers(imports: object): Record<string, unknown> {
  const unheld = (callback: () => void, ms: number) => setTimeout(callback, ms).unref()
  return Object.fromEntries(
    Object.entries(imports).map(([name, value]) =>
      name.startsWith('__wbg_setTimeout_') ? [name, unheld] : [name, value],
    ),
  )
}
