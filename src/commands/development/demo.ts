import { readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { loadDevelopment } from '../kit/development.ts'
import { print, printJson } from '../kit/output.ts'

type Options = { readonly json?: true }

/** `gatehouse demo`: prints again what the running demo printed at its start. */
export default async function demoCommand(env: Environment, { json }: Options): Promise<void> {
  const { describeDemo, greeting } = await loadDevelopment()
  const running = await describeDemo(env)
  if (json) {
    const { BASE_URL: url } = running.env
    return printJson({ url, pid: running.pid, ...running.customer })
  }
  print(await greeting(readConfig(running.env), running))
}
