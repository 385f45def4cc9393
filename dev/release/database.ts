import type pg from 'pg'
import { tableNamesOf } from '#src/resources/kit/names.ts'
import { app, resources } from '#src/resources/running-app.ts'
import { listAssets, readTextAsset } from '#src/runtime/assets.ts'
import { readCatalogue, readPrivileges } from '#src/schema/catalogue.ts'
import { readCoreMigrations } from '#src/schema/migrations/applied.ts'
import {
  callerFunctions,
  functionPrivileges,
  identityTables,
  serviceTables,
  tablePrivileges,
} from '#src/schema/tables.ts'

/** The application roles of the database that is described. */
type Roles = { web: string; worker: string }

const baseline = 'prisma/migrations/0_baseline/migration.sql'

/**
 * docs/database.md: tables by area with their scope, policies and privileges, and who may call which
 * function, as the catalogue of a migrated database has them.
 */
export async function databaseDocument(client: pg.ClientBase, roles: Roles): Promise<string> {
  const objects = await readCatalogue(client, Object.keys(tablePrivileges))
  const web = await readPrivileges(client, roles.web)
  const worker = await readPrivileges(client, roles.worker)
  const policiesOf = (table: string) =>
    objects
      .filter((object) => object.kind === 'policy' && object.table === table)
      .map(({ name, facts }) => {
        const policy = name.slice(table.length + 1)
        return facts.roles === '-' ? `\`${policy}\`` : `\`${policy}\` (owner)`
      })
  const tables = (await readAreas()).map(({ area, names }) => {
    const rows = names.map((name) =>
      row([
        `\`${name}\``,
        scopeOf(name),
        policiesOf(name).join(', ') || 'none',
        rights(web[name]),
        rights(worker[name]),
      ]),
    )
    return `### ${area}\n\n${head(['Table', 'Scope', 'Policies', 'Web', 'Worker'])}${rows.join('')}`
  })
  const functions = await describeFunctions(
    objects.filter(({ kind }) => kind === 'function').map(({ name }) => name),
  )
  return `${introduction}\n## Tables\n\n${tables.join('\n')}\n## Functions\n\n${functions}`
}

const introduction = `# The database

Generated from the catalogue of a migrated database by \`npm run generate\`. The files are the source: tables in [\`prisma/migrations\`](../prisma/migrations), policies in [\`prisma/policies.sql\`](../prisma/policies.sql), triggers in [\`prisma/triggers.sql\`](../prisma/triggers.sql), functions in [\`prisma/functions\`](../prisma/functions), privileges in [\`src/schema/tables.ts\`](../src/schema/tables.ts).

Scopes: \`owner\` is the user of the credential, \`tenant\` its tenant, \`chain\` the tenant and the teams of the user. The policies of an \`identity\` table do not apply to the owner, whose functions read it before a scope exists. A \`service\` table belongs to no tenant and has no row-level security. A policy marked (owner) is for functions of the owner.
`

/** The areas of the baseline, and a last one for tables of later migrations. */
async function readAreas(): Promise<{ area: string; names: string[] }[]> {
  const text = await readTextAsset(baseline)
  const areas = text.split(/^-- ---- /m).slice(1)
  const known = areas.map((part) => ({
    area: part.slice(0, part.indexOf(' ----')),
    names: [...part.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name = '']) => name),
  }))
  const later = (await readCoreMigrations())
    .slice(1)
    .flatMap(({ sql }) => [...sql.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name = '']) => name))
  const ofApp = tableNamesOf(app.resources)
  return [
    ...known,
    { area: 'Later', names: later },
    { area: `The app ${app.name}`, names: ofApp },
  ].filter(({ names }) => names.length > 0)
}

function scopeOf(table: string): string {
  if (serviceTables.some((name) => name === table)) return 'service'
  return identityTables.some((name) => name === table) ? 'identity' : (scopes[table] ?? 'tenant')
}

/** Of the tables under FORCE; the others are scoped by tenant. */
const scopes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    resources.flatMap((one) => tableNamesOf([one]).map((table) => [table, one.scope])),
  ),
  audit_log: 'owner or tenant',
}

function rights(held: readonly string[] = []): string {
  const columns = new Map<string, string[]>()
  for (const right of held) {
    const [verb = '', column] = right.split(/ \(|\)/)
    columns.set(verb, [...(columns.get(verb) ?? []), ...(column === undefined ? [] : [column])])
  }
  return (
    [...columns]
      .map(([verb, names]) => (names.length === 0 ? verb : `${verb} (${names.join(', ')})`))
      .join(', ') || '–'
  )
}

async function describeFunctions(signatures: readonly string[]): Promise<string> {
  const paths = (await listAssets('prisma/functions')).concat('prisma/triggers.sql')
  const sections = await Promise.all(
    paths.map(async (path) => {
      const text = await readTextAsset(path)
      const names = [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)/gm)].map(
        ([, name = '']) => name,
      )
      const rows = names.flatMap((name) =>
        signatures
          .filter((signature) => signature.startsWith(`${name}(`))
          .map((signature) => row([`\`${signature}\``, callersOf(signature)])),
      )
      const file = path.slice('prisma/'.length)
      return `### [${file}](../${path})\n\n${head(['Function', 'May be called by'])}${rows.join('')}`
    }),
  )
  return sections.join('\n')
}

function callersOf(signature: string): string {
  const isListed = (list: readonly string[]) =>
    list.some((name) => name.replaceAll(', ', ',') === signature)
  if (isListed(callerFunctions)) return 'everyone, with their own rights'
  const duties = (['web', 'worker'] as const).filter((duty) => isListed(functionPrivileges[duty]))
  return duties.join(', ') || 'functions and triggers of the owner'
}

function head(cells: readonly string[]): string {
  return `${row(cells)}${row(cells.map(() => '---'))}`
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`
}
