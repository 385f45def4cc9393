import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  DriverAdapterError,
} from '@prisma/driver-adapter-utils'
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { readAsset } from '#src/assets.ts'
import { type Migration, migrationsFolder } from './migration-files.ts'

export type SchemaEngine = { engine: glue.SchemaEngine; close(): Promise<void> }

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
  adapterFor: (pool: pg.Pool) => PrismaPg = (pool) => new WholeScripts(pool),
): Promise<SchemaEngine> {
  engineLoaded ??= loadEngine()
  await engineLoaded
  const pool = new pg.Pool({ connectionString, max: 2 })
  const factory = bindMigrationAwareSqlAdapterFactory(adapterFor(pool))
  const engine = await glue.SchemaEngine.new({ datamodels }, () => {}, factory)
  return { engine, close: () => pool.end() }
}

/**
 * Sends a migration as one message: PostgreSQL then runs it as one transaction, all or nothing.
 * The adapter itself splits scripts at every semicolon, comments and function bodies included.
 */
class WholeScripts extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect()
    adapter.executeScript = async (script) => {
      await adapter.underlyingDriver().query(script).catch(rethrowForEngine)
    }
    return adapter
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
