import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/** Where a person is signed in with `gatehouse login`: address and token belong together. */
export type Login = { url: string; token: string }

const loginAgain = 'Run `gatehouse login` again.'

/** @param shell without `.env`, so that the folder of a command cannot say where logins are */
export function loginFile({ XDG_CONFIG_HOME: configured }: Environment): string {
  return join(configured || join(homedir(), '.config'), 'gatehouse', 'login.json')
}

/**
 * @returns null if there is no file
 * @throws OperatorError if others can read it, or it is not what `gatehouse login` writes
 */
export async function readLogin(shell: Environment): Promise<Login | null> {
  const file = loginFile(shell)
  try {
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new OperatorError(`${file} can be read by others.`, `chmod 600 ${file}`)
    }
    const { url, token } = Object(JSON.parse(await readFile(file, 'utf8')))
    if (typeof url === 'string' && typeof token === 'string') return { url, token }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new OperatorError(`${file} cannot be used.`, loginAgain)
}

/** A crash leaves the old file or the new one. @returns its path */
export async function writeLogin(shell: Environment, login: Login): Promise<string> {
  const file = loginFile(shell)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.new`
  await rm(draft, { force: true }) // one that is left over may have another mode, and readers
  await writeFile(draft, `${JSON.stringify(login)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(draft, file)
  return file
}
