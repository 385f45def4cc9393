import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { TObject } from 'typebox'
import { accessDocument, accessOverview } from '#src/access/overview.ts'
import { documentedOwn, settingsTable } from '#src/config/documentation.ts'
import { privilegesOf } from '#src/resources/kit/derived.ts'
import { sqlOf } from '#src/resources/kit/sql.ts'
import { app, worksInBackground } from '#src/resources/running-app.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { prismaSchemaOf } from '#src/schema/app-tables/prisma-schema.ts'
import { requireAppFolder } from '../kit/app-folder.ts'
import { print } from '../kit/output.ts'

type Options = { readonly check?: true }

/**
 * `gatehouse generate`: writes what follows from the declarations of the app into its folder `generated`, so that
 * a review sees it change. With `check` it writes nothing.
 * @throws OperatorError without an app, or if one of its routes has a mistake; with `check` if a file does not match
 *   the declarations
 */
export default async function generateCommand({ check }: Options): Promise<void> {
  if (app.routes !== undefined) await registerRoutes()
  for (const { file, text } of await findOutdated()) {
    if (check) {
      throw new OperatorError(
        `${file} does not match the declarations of the app.`,
        'Run gatehouse generate, read the difference and commit it.',
      )
    }
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    print(`written ${file}`)
  }
  if (check) print('Everything that is generated matches the declarations.')
}

/** Registers every route, as a start does, without connecting to anything. */
async function registerRoutes(): Promise<void> {
  // It loads the whole server, which an app without routes of its own need not wait for.
  const { describeApi } = await import('./openapi.ts')
  await describeApi({})
}

/** The files that do not match the declarations, with their text. @throws OperatorError without an app */
export async function findOutdated(): Promise<{ file: string; text: string }[]> {
  const folder = requireAppFolder()
  const outdated: { file: string; text: string }[] = []
  for (const [path, text] of Object.entries(generatedFiles())) {
    const file = resolve(folder, path)
    const present = await readFile(file, 'utf8').catch(() => null)
    if (present !== text) outdated.push({ file, text })
  }
  return outdated
}

/** The files by their path in the folder of the app. */
function generatedFiles(): Record<string, string> {
  return {
    'generated/access.md': accessTable(),
    'generated/database.sql': databaseScript(),
    'generated/schema.prisma': prismaSchemaOf(app.resources),
    ...(app.settings && { 'generated/settings.md': settingsDocument(app.settings.schema) }),
  }
}

function settingsDocument(own: TObject): string {
  return `# Settings of the app\n\nGenerated from its declarations: \`gatehouse generate\`. Those of Gatehouse are in its docs/settings.md.\n\n${settingsTable(documentedOwn(own))}`
}

function accessTable(): string {
  const names = app.resources.map(({ name }) => name)
  return accessDocument(
    accessOverview().filter(({ resource }) => names.includes(resource)),
    'the declarations of the app: `gatehouse generate`',
  )
}

const introduction = `-- Written by \`gatehouse generate\` from the declarations. \`gatehouse migrate\` applies it after the migrations, with
-- a table of the declarations that functions of the owner read.
`

function databaseScript(): string {
  const { policies, triggers, functions } = sqlOf(app.resources)
  const homes = functions.slice(functions.indexOf('$$;\n') + '$$;\n'.length).trim()
  const grants = Object.entries(privilegesOf(app.resources, worksInBackground)).flatMap(
    ([table, { web, worker }]) =>
      [
        [web, 'the web role'],
        [worker, 'the worker role'],
      ].flatMap(([rights, role]) =>
        rights === '' ? [] : [`-- To ${role}: GRANT ${rights} ON ${table}`],
      ),
  )
  const parts = [introduction, grants.join('\n'), policies.trim(), triggers.trim(), homes]
  return `${parts
    .filter((part) => part !== '')
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n')}\n`
}
