import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Place } from './data-directory.ts'
import type { Account } from './os-account.ts'
import { serverEnvironment } from './process.ts'

export const superuser = 'postgres'

const initDeadlineMs = 120_000
const passwordBytes = 24
const shownLines = 4

const run = promisify(execFile)

/**
 * Creates the cluster in `folder`: UTF-8, sorted by code point independently of the machine's
 * locales, with SCRAM passwords for every role. The cluster is created completely or not at all.
 */
export async function createCluster({ folder, binaries, account }: Place): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writePassword(passwordFile, account)
  const partial = await mkdtemp(join(folder, 'new-cluster-'))
  await changeOwner(partial, account)
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--auth=scram-sha-256', `--username=${superuser}`, `--pwfile=${passwordFile}`]
  const rest = ['--encoding=UTF8', '--no-instructions', `--pgdata=${partial}`]
  try {
    await run(join(binaries, 'bin/initdb'), [...locale, ...access, ...rest], {
      ...(account && { uid: account.uid, gid: account.gid }),
      cwd: partial,
      env: serverEnvironment,
      timeout: initDeadlineMs,
    })
    await rename(partial, join(folder, 'cluster'))
  } catch (cause) {
    await rm(partial, { recursive: true, force: true })
    // Another process has created it meanwhile.
    if (existsSync(join(folder, 'cluster'))) return
    throw new Error(`the PostgreSQL cluster could not be created: ${lastLines(cause)}`, { cause })
  }
}

/** Copies cluster and password of a stopped server, with their owner and modes. */
export async function copyCluster(dataDir: string, { folder }: Place): Promise<void> {
  const from = ['password', 'cluster'].map((name) => join(realpathSync(dataDir), name))
  await run('cp', ['-a', ...from, folder])
}

/** The superuser's password, as `createCluster` stored it. */
export async function readPassword({ folder }: Place): Promise<string> {
  const file = join(folder, 'password')
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code !== 'ENOENT') throw error
    throw new OperatorError(
      `${file}, the password of the embedded PostgreSQL, is missing.`,
      `Delete ${folder}, and with it the data of the demo, to start over.`,
    )
  })
  return text.trim()
}

async function writePassword(file: string, account: Account | undefined): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(passwordBytes))
  const password = Buffer.from(bytes).toString('base64url')
  if (existsSync(file)) return
  await writeFile(file, password, { mode: 0o600 })
  await changeOwner(file, account)
}

async function changeOwner(path: string, account: Account | undefined): Promise<void> {
  if (account) await chown(path, account.uid, account.gid)
}

/** The last lines of a failed program's output, on one line. */
function lastLines(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  const lines = (text || String(error)).trim().split('\n')
  return lines.slice(-shownLines).join(' | ')
}
