import { parseArgs } from 'node:util'
import { OperatorError } from '#src/operator-error.ts'

/**
 * Whether `--json` was given, for a script that reads the output.
 * @throws OperatorError with the usage for any other word
 */
export function readJsonFlag(args: readonly string[], usage: string): boolean {
  try {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } } })
    return values.json === true
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error), usage)
  }
}
