import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/** Where a person is signed in with `gatehouse login`: address and token belong together. */
export type Login = { url: string; token: string }

const loginAgain = 'Run `gatehouse login` again.'

export function loginFile({ XDG_CONFIG_HOME: configured }: Environment): string {
  return join(configured || join(homedir(), '.config'), 'gatehouse', 'login.json')
}

/**
 * @returns null if there is no file
 * @throws OperatorError if others can read it, or it is not what `gatehouse login` writes
 */
export async function readLogin(env: Environment): Promise<Login | null> {
  const file = loginFile(env)
  try {
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new OperatorError(`${file} can be read by others.`, `chmod 600 ${file}`)
    }
    const { url, token } = Object(JSON.parse(await readFile(file, 'utf8')))
    if (typeof url === 'string' && typeof token === 'string') return { url, token }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
  }
  throw new OperatorError(`${file} cannot be used.`, loginAgain)
}

/** A crash leaves the old file or the new one. @returns its path */
export async function writeLogin(env: Environment, login: Login): Promise<string> {
  const file = loginFile(env)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(`${file}.new`, `${JSON.stringify(login)}\n`, { mode: 0o600 })
  await chmod(`${file}.new`, 0o600) // it may be left over, with another mode
  await rename(`${file}.new`, file)
  return file
}
