import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The account that the server runs under if this program runs as root. */
export type Account = { name: string; uid: number; gid: number }

// "nobody" first: it owns no files, while "postgres" may own the data of a real server.
const candidates = ['nobody', 'postgres']

/**
 * The account for PostgreSQL, or undefined for the current one. Only root needs another account,
 * since PostgreSQL refuses to run as root. Existing data keeps its owner. No account is created.
 *
 * @throws if root cannot switch to any of the candidates
 */
export async function chooseAccount(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const cluster = join(dataDir, 'cluster')
  if (existsSync(cluster)) {
    const { uid, gid } = await stat(cluster)
    if (uid !== 0) return { name: `user ${uid}`, uid, gid }
  }
  for (const name of candidates) {
    const account = lookUp(name)
    // A container may map fewer accounts than /etc/passwd lists.
    if (account && succeedsAs(account, 'exit 0')) return account
  }
  const names = candidates.join('" or "')
  throw new Error(`PostgreSQL refuses to run as root and there is no account "${names}" to use`)
}

function lookUp(name: string): Account | undefined {
  const uid = idOf('-u', name)
  const gid = idOf('-g', name)
  return uid === undefined || gid === undefined ? undefined : { name, uid, gid }
}

function idOf(flag: '-u' | '-g', name: string): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, name], { encoding: 'utf8' })
  return status === 0 ? Number(stdout.trim()) : undefined
}

/** Whether `script` succeeds when the account runs it with `argument` as `$1`. */
export function succeedsAs({ uid, gid }: Account, script: string, argument = ''): boolean {
  const options = { uid, gid, cwd: '/', stdio: 'ignore', timeout: 10_000 } as const
  return spawnSync('/bin/sh', ['-c', script, 'sh', argument], options).status === 0
}
