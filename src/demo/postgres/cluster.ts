import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Place } from './data-directory.ts'
import type { Account } from './os-account.ts'
import { serverEnvironment } from './process.ts'

export const superuser = 'postgres'

const initDeadlineMs = 120_000
const passwordBytes = 24
const shownLines = 4

const run = promisify(execFile)

/**
 * Creates the cluster of a place: UTF-8, ordered by code point whatever the machine's locales
 * are, password (SCRAM) required from everyone. It appears whole or not at all.
 */
export async function createCluster({ folder, binaries, account }: Place): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writePassword(passwordFile, account)
  const partial = await mkdtemp(join(folder, 'new-cluster-'))
  await give(partial, account)
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
    // Another process that started at the same time was first.
    if (existsSync(join(folder, 'cluster'))) return
    throw new Error(`PostgreSQL's data could not be created: ${lastLines(cause)}`, { cause })
  }
}

/** The superuser's password, as `createCluster` stored it. */
export async function readPassword({ folder }: Place): Promise<string> {
  const file = join(folder, 'password')
  const text = await readFile(file, 'utf8').catch((cause) => {
    const remedy = `remove ${folder} to start afresh`
    throw new Error(`the password of the embedded PostgreSQL cannot be read: ${remedy}`, { cause })
  })
  return text.trim()
}

async function writePassword(file: string, account: Account | undefined): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(passwordBytes))
  const password = Buffer.from(bytes).toString('base64url')
  if (existsSync(file)) return
  await writeFile(file, password, { mode: 0o600 })
  await give(file, account)
}

async function give(path: string, account: Account | undefined): Promise<void> {
  if (account) await chown(path, account.uid, account.gid)
}

/** The end of what a failed program said, on one line. */
function lastLines(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  const lines = (text || String(error)).trim().split('\n')
  return lines.slice(-shownLines).join(' | ')
}
