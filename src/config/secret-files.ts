import { readTextFile } from '#src/runtime/text-file.ts'
import { ConfigError } from './config.ts'
import { documentedSettings } from './documentation.ts'
import type { Environment } from './parse.ts'

const suffix = '_FILE'
const maxCharacters = 65_536 // far above any list of keys; refuses a path such as /dev/zero or a log

/**
 * Replaces each `NAME_FILE` of a secret setting by `NAME` with the content of that file, without
 * the whitespace at its ends. So a secret need not be in the environment, which child processes
 * inherit and diagnostic tools print.
 * @throws ConfigError with every file that cannot be used; it repeats paths, never contents
 */
export function readSecretFiles(env: Environment): Environment {
  const faults: string[] = []
  const resolved: Record<string, string | undefined> = { ...env }
  for (const [variable, path] of Object.entries(env)) {
    const name = secretOf(variable)
    if (name === null) continue
    delete resolved[variable]
    if (path === undefined || path === '') continue
    if (env[name]) faults.push(`${variable}: ${name} is set too. Keep one of the two.`)
    const content = readSecret(path)
    if (typeof content === 'string') resolved[name] = content
    else faults.push(`${variable}: ${path} ${content.problem}.`)
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return resolved
}

/** The secret setting that a variable names a file for; null for any other variable. */
function secretOf(variable: string): string | null {
  if (!variable.endsWith(suffix)) return null
  const name = variable.slice(0, -suffix.length)
  return secretNames.some((form) => form.test(name)) ? name : null
}

const secretNames = documentedSettings()
  .filter(({ secret }) => secret)
  .map(({ name }) => new RegExp(`^${name.replace('<NAME>', '[A-Z][A-Z0-9_]*')}$`))

function readSecret(path: string): string | { problem: string } {
  try {
    const content = readTextFile(path)
    if (content.length > maxCharacters) return { problem: 'is too long for a secret' }
    return content.trim() === '' ? { problem: 'is empty' } : content.trim()
  } catch (error) {
    const { code, message } = Object(error)
    return { problem: `cannot be read (${code ?? message})` }
  }
}
