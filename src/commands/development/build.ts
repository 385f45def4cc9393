import { resolve } from 'node:path'
import { isSea } from 'node:sea'
import { app, appFolder } from '#src/resources/running-app.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { loadDevelopment } from '../kit/development.ts'
import { print } from '../kit/output.ts'

type Options = { readonly output?: string }

/**
 * `gatehouse build`: writes the app and the program as one file that needs no Node and no npm.
 * @throws OperatorError without an app, or if esbuild or a Node that can do it is missing
 */
export default async function buildCommand({ output }: Options): Promise<void> {
  if (appFolder === null || isSea()) {
    throw new OperatorError(
      'There is no folder of an app to build.',
      'Run it in the folder of an app, or name one with --app.',
    )
  }
  const { buildApp } = await loadDevelopment()
  print(await buildApp(resolve(appFolder), resolve(output ?? app.name)))
}
