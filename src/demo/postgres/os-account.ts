import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

/** An account of this machine that the server runs under when the program itself runs as root. */
export type Account = { name: string; uid: number; gid: number }

// "nobody" first: it owns nothing, while "postgres" may own a real server's data.
const candidates = ['nobody', 'postgres']

/**
 * The account PostgreSQL is to run under, or undefined for the caller's own. Only root needs
 * another one, since PostgreSQL refuses to run as root. Data that exists keeps its owner. No
 * account is ever created.
 *
 * @throws when root finds no account it may switch to
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
    // A container may map fewer accounts than its password file lists.
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

/** Whether `script` succeeds when that account runs it; `$1` in it is `argument`. */
export function succeedsAs({ uid, gid }: Account, script: string, argument = ''): boolean {
  const options = { uid, gid, cwd: '/', stdio: 'ignore', timeout: 10_000 } as const
  return spawnSync('/bin/sh', ['-c', script, 'sh', argument], options).status === 0
}
