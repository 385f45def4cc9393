import { resolve } from 'node:path'
import { isSea } from 'node:sea'
import { appFolder } from '#src/resources/running-app.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

/**
 * The folder of the app, for a command that reads its files or writes beside them.
 * @throws OperatorError without an app, and in the single binary, which has no such folder
 */
export function requireAppFolder(): string {
  if (appFolder !== null && !isSea()) return resolve(appFolder)
  throw new OperatorError(
    'There is no folder of an app.',
    'Run it in the folder of an app, or name one with --app.',
  )
}
