import { resolve } from 'node:path'
import { app } from '#src/resources/running-app.ts'
import { requireAppFolder } from '../kit/app-folder.ts'
import { loadDevelopment } from '../kit/development.ts'
import { print } from '../kit/output.ts'

type Options = { readonly output?: string }

/**
 * `gatehouse build`: writes the app and the program as one file that needs no Node and no npm.
 * @throws OperatorError without an app, or if esbuild or a Node that can do it is missing
 */
export default async function buildCommand({ output }: Options): Promise<void> {
  const folder = requireAppFolder()
  const { buildApp } = await loadDevelopment()
  print(await buildApp(folder, resolve(output ?? app.name)))
}
