import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { policy } from '#src/access/policy.ts'
import { managingRole } from '#src/access/roles.ts'
import type { Environment } from '#src/config/parse.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { findConfig } from '#src/resources/load-app.ts'
import { app } from '#src/resources/running-app.ts'
import { tablePrivileges } from '#src/schema/tables.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { requireAppFolder } from '../kit/app-folder.ts'
import { print } from '../kit/output.ts'
import { writeMigration } from './migrate-dev.ts'
import { appTestOf } from './new/app-test.ts'
import { declarationOf, namesOf, permissionsOf, withResource } from './new/declaration.ts'
import {
  InputFault,
  type NewResource,
  type Options,
  readResource,
  type Taken,
} from './new/input.ts'
import { buildPlaceholder } from './openapi.ts'

/** A file by its path in the folder of the app. Only a file that `replaces` one may exist. */
export type Edit = { readonly path: string; readonly text: string; readonly replaces?: true }

/** The test of a new resource, and whatever lists it. */
type TestsOf = (resource: NewResource, folder: string) => Promise<readonly Edit[]>

/**
 * `gatehouse new`: writes the declaration of a resource, its line in the configuration, a test and the migration
 * that makes its table.
 * @returns the written files
 * @throws InputFault if a name is taken or not fit, before anything is written
 */
export default async function newCommand(
  env: Environment,
  name: string,
  fields: readonly string[],
  options: Options,
  testsOf: TestsOf = async (resource) => [appTestOf(resource, managingRole)],
): Promise<string[]> {
  const folder = requireAppFolder()
  const resource = readResource(name, fields, options, await readTaken(env))
  const { file } = namesOf(resource)
  const declaration = `resources/${file}.ts`
  const edits: readonly Edit[] = [
    { path: declaration, text: declarationOf(resource, app.roles !== undefined) },
    await configOf(folder, resource),
    ...(await testsOf(resource, folder)),
  ]
  const present = edits.find(({ path, replaces }) => !replaces && existsSync(join(folder, path)))
  if (present !== undefined) throw new InputFault(`${present.path} exists already.`)
  for (const { path, text } of edits) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
    print(`written ${join(folder, path)}`)
  }
  if (app.roles !== undefined && resource.scope !== 'owner') {
    const [reading, ...changing] = permissionsOf(resource.name, true)
    // Rows of a chain are read by the team of their folder, whatever the roles are.
    const wanted = resource.scope === 'chain' ? changing : [reading, ...changing]
    print(`Give ${wanted.join(', ')} to the roles in gatehouse.config.ts.`)
  }
  const module = await import(pathToFileURL(join(folder, declaration)).href)
  const declared: Resource = module[namesOf(resource).plurals]
  const all = [...app.resources, declared]
  const migration = await writeMigration(folder, all, resource.table).catch((error: unknown) => {
    print('The migration is missing. Run gatehouse migrate dev when this is corrected:')
    throw error
  })
  print(
    `Next: a row for ${resource.name} in the table of expectAccess, which says who may do what, and gatehouse generate.`,
  )
  return [
    ...edits.map(({ path }) => join(folder, path)),
    ...(migration === null ? [] : [migration]),
  ]
}

async function configOf(folder: string, resource: NewResource): Promise<Edit> {
  const path = relative(folder, findConfig(folder))
  const text = withResource(await readFile(join(folder, path), 'utf8'), resource)
  if (text !== null) return { path, text, replaces: true }
  throw new InputFault(`${path} has no list “resources: [ … ]” in it.`)
}

async function readTaken(env: Environment): Promise<Taken> {
  const server = await buildPlaceholder(env)
  try {
    await server.ready()
    const { components } = server.describeApi()
    return {
      rules: policy.map(({ resource }) => resource),
      tables: Object.keys(tablePrivileges),
      schemas: Object.keys(components?.schemas ?? {}),
      events: eventTypes,
      isRouted: (url) => server.hasRoute({ method: 'GET', url }),
    }
  } finally {
    await server.close()
  }
}
