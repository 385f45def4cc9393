import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { verifiers } from '#src/pages/docs/samples.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { root } from './page.ts'

/** A program of docs/verifying-webhooks and its interpreter. */
export type Language = { name: string; file: string; fence: string; interpreter: string | null }

export type Delivery = {
  secret?: string
  /** `TIMESTAMP SIGNATURE [NOW]`; an omitted argument is a missing header. */
  args: readonly string[]
  body: string | Uint8Array
}

const run = promisify(execFile)
const folder = join(root, 'docs/verifying-webhooks')

/** The fence and the interpreter of each language. */
const tools: Readonly<Record<keyof typeof verifiers, [fence: string, interpreter: string | null]>> =
  {
    JavaScript: ['js', process.execPath],
    Python: ['python', findProgram('python3')],
    Go: ['go', findProgram('go')],
    PHP: ['php', findProgram('php')],
    Ruby: ['ruby', findProgram('ruby')],
  }

export const languages: readonly Language[] = Object.entries(tools).map(
  ([name, [fence, interpreter]]) => ({
    name,
    file: verifiers[name as keyof typeof verifiers],
    fence,
    interpreter,
  }),
)

/** The command that runs a language's program. Go is compiled once, because that takes long. */
export async function commandOf(t: Test, { file, interpreter }: Language): Promise<string[]> {
  if (interpreter === null) throw new Error(`no interpreter for ${file}`)
  const source = join(folder, file)
  if (!file.endsWith('.go')) return [interpreter, source]
  const out = await mkdtemp(join(tmpdir(), 'gatehouse-verify-'))
  t.teardown(() => rm(out, { recursive: true, force: true }))
  const program = join(out, 'verify')
  const settings = { GO111MODULE: 'off', GOTOOLCHAIN: 'local' } // no downloads
  await run(interpreter, ['build', '-o', program, source], { env: { ...process.env, ...settings } })
  return [program]
}

/** Runs the program on a delivery. @returns its output and exit status */
export async function verify(command: readonly string[], { secret, args, body }: Delivery) {
  const [program = '', ...before] = command
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME }
  const child = spawn(program, [...before, ...args], {
    env: { ...environment, ...(secret === undefined ? {} : { WEBHOOK_SECRET: secret }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(body)
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { output: output + errors, status: child.exitCode }
}
