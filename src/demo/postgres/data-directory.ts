import { existsSync, realpathSync } from 'node:fs'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Binaries, copyBinaries } from '#src/demo/postgres-binaries.ts'
import { findServer } from './lock-file.ts'
import { type Account, succeedsAs } from './os-account.ts'

/** Where a cluster lives: `folder` holds `cluster`, `password`, and sometimes a copy of the binaries. */
export type Place = { folder: string; binaries: string; account: Account | undefined }

const prefix = 'gatehouse-postgres-'
const ownerFile = 'belongs-to'

/**
 * The place for the data of `dataDir`, made where missing.
 *
 * An ordinary user's is `dataDir` itself. As root the server runs under another account, which
 * may be unable to enter `dataDir` or to run the binaries (a checkout below a folder of mode
 * 0700); then both live in a folder of their own that it can enter, and `dataDir` is a link to it.
 *
 * @throws when no place can be found that the account can use
 */
export async function settlePlace(
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
  // 0711: others may pass through to what they own inside, and see nothing on the way.
  if (isNew) await chmod(dataDir, 0o711)
  if (canEnter(account, folder)) return withBinaries(folder, binaries, account)
  await rmdir(folder).catch((cause) => {
    const reason = `the account "${account.name}" cannot enter ${dataDir}`
    throw new Error(`${reason}, which holds files: move or remove it`, { cause })
  })
  const place = (await findForsaken(dataDir)) ?? (await makePlace(dataDir))
  await symlink(place, dataDir)
  if (canEnter(account, place)) return withBinaries(place, binaries, account)
  throw new Error(`the account "${account.name}" cannot enter ${place}`)
}

/** Removes `dataDir` and the folder it may be a link to. The server must have been stopped. */
export async function removePlace(dataDir: string): Promise<void> {
  const target = existsSync(dataDir) ? realpathSync(dataDir) : dataDir
  if (basename(target).startsWith(prefix)) await rm(target, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}

async function dropDanglingLink(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => undefined)
  if (entry?.isSymbolicLink() && !existsSync(path)) await rm(path)
}

/** Tried for real: modes alone tell nothing of mounts, access lists and security modules. */
function canEnter(account: Account, folder: string): boolean {
  return succeedsAs(account, 'cd "$1"', folder)
}

function canRun(account: Account, folder: string): boolean {
  const script = '"$1/bin/postgres" --version && cat "$1/share/postgresql/postgres.bki"'
  return succeedsAs(account, script, folder)
}

/** The binaries from node_modules where the account can run them, else a copy inside the place. */
async function withBinaries(folder: string, found: Binaries, account: Account): Promise<Place> {
  if (canRun(account, found.folder)) return { folder, binaries: found.folder, account }
  const copy = join(folder, `binaries-${found.version}`)
  if (!existsSync(copy)) await copyBinaries(found, copy)
  if (canRun(account, copy)) return { folder, binaries: copy, account }
  throw new Error(`PostgreSQL's binaries do not run in ${copy} as "${account.name}"`)
}

/** /var/tmp outlives a restart of the machine, and its sticky bit keeps what root made there. */
function commonFolder(): string {
  return existsSync('/var/tmp') ? '/var/tmp' : tmpdir()
}

async function makePlace(dataDir: string): Promise<string> {
  const place = await mkdtemp(join(commonFolder(), prefix))
  await chmod(place, 0o711)
  await writeFile(join(place, ownerFile), dataDir, { mode: 0o600 })
  return place
}

/** A place whose link was removed (`rm -rf .data`): its binaries are kept, its data is not. */
async function findForsaken(dataDir: string): Promise<string | undefined> {
  for (const name of await readdir(commonFolder())) {
    const place = join(commonFolder(), name)
    if (!name.startsWith(prefix) || !(await isOwnFolder(place))) continue
    const owner = await readFile(join(place, ownerFile), 'utf8').catch(() => undefined)
    // A server that still runs there keeps its data.
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
