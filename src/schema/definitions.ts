import { basename } from 'node:path'
import { sha256 } from '#src/crypto/hash.ts'
import { hiddenColumnsFunction } from '#src/resources/hidden-columns.ts'
import { type ScopeWords, sqlOf } from '#src/resources/kit/sql.ts'
import { managingRoleFunction } from '#src/resources/roles.ts'
import { app, resources } from '#src/resources/running-app.ts'
import { listAssets, readTextAsset } from '#src/runtime/assets.ts'
import { digestSubjects } from './statements.ts'
import { functionPrivileges, tablePrivileges } from './tables.ts'

/** The parts of the database that `migrate` applies after the migrations, in this order. */
export const parts = ['functions', 'policies', 'triggers', 'privileges'] as const
export type Part = (typeof parts)[number]

/** SHA-256 of the statements about each table or view. */
export type Subjects = Readonly<Record<'policies' | 'triggers', Readonly<Record<string, string>>>>

export type Definitions = {
  /** The scripts of each part. Privileges are granted from src/schema/tables.ts. */
  scripts: Readonly<Record<Exclude<Part, 'privileges'>, readonly string[]>>
  /** SHA-256 of each part, in hexadecimal. */
  digests: Readonly<Record<Part, string>>
  subjects: Subjects
  /** Names of the functions that only processes of the release before call. */
  kept: readonly string[]
}

const top = 'prisma'

/**
 * Reads the files of this release: prisma/functions, prisma/policies.sql and prisma/triggers.sql. What
 * follows from the declared resources comes after them.
 * @param variant a folder below prisma. Its functions replace those of the same name, and are added; its policies.sql
 *   and triggers.sql replace the others
 * @param words how the SQL of the declared resources names the scope
 */
export async function readDefinitions(variant?: string, words?: ScopeWords): Promise<Definitions> {
  const folder = variant === undefined ? top : `${top}/${variant}`
  const declared = sqlOf(resources, words)
  const scripts = {
    functions: [
      ...(await readFunctions(variant)),
      declared.functions,
      managingRoleFunction(app),
      hiddenColumnsFunction(app),
    ],
    policies: [await readTextAsset(`${folder}/policies.sql`), declared.policies],
    triggers: [await readTextAsset(`${folder}/triggers.sql`), declared.triggers],
  }
  return describe(scripts, keptIn(await readStatements(top)))
}

/**
 * The names of functions that only previous.sql has. A name that another file has too is also that of a
 * function that this release calls.
 * @param statements of prisma/functions, by file
 */
export function keptIn(statements: Readonly<Record<string, readonly string[]>>): string[] {
  const { 'previous.sql': previous = [], ...others } = statements
  const names = new Set(Object.values(others).flatMap((all) => all.map(nameOf)))
  return previous.map(nameOf).filter((name) => !names.has(name))
}

export function describe(
  scripts: Definitions['scripts'],
  kept: readonly string[] = [],
): Definitions {
  return {
    scripts,
    kept,
    subjects: {
      policies: digestSubjects(scripts.policies),
      triggers: digestSubjects(scripts.triggers),
    },
    digests: {
      functions: digest(scripts.functions),
      policies: digest(scripts.policies),
      triggers: digest(scripts.triggers),
      privileges: digest([JSON.stringify([tablePrivileges, functionPrivileges])]),
    },
  }
}

/** The scripts, by file. A function of the variant has the place of the one that it replaces. */
async function readFunctions(variant: string | undefined): Promise<string[]> {
  const base = await readStatements(top)
  const own = variant === undefined ? {} : await readStatements(`${top}/${variant}`)
  const instead = new Map(Object.values(own).flatMap((all) => all.map((one) => [nameOf(one), one])))
  const names = new Set(Object.values(base).flatMap((all) => all.map(nameOf)))
  const files = [...new Set([...Object.keys(base), ...Object.keys(own)])].toSorted()
  return files.map((file) => {
    const further = (own[file] ?? []).filter((one) => !names.has(nameOf(one)))
    const replaced = (base[file] ?? []).map((one) => instead.get(nameOf(one)) ?? one)
    return join([...replaced, ...further])
  })
}

async function readStatements(folder: string): Promise<Record<string, string[]>> {
  const paths = await listAssets(`${folder}/functions`)
  const scripts = await Promise.all(paths.map(readTextAsset))
  return Object.fromEntries(
    scripts.map((script, index) => [basename(paths[index] ?? ''), divide(script)]),
  )
}

const end = ';\n\n'

/**
 * The statements of a script. Each ends with a semicolon before an empty line, and has none inside (a test
 * checks it).
 */
export function divide(script: string): string[] {
  const statements = script.replace(/;\s*$/, '').split(end)
  return statements.filter((statement) => statement.trim() !== '')
}

/** A script of the statements. */
export function join(statements: readonly string[]): string {
  return `${statements.join(end)};\n`
}

const creation = 'CREATE OR REPLACE FUNCTION '

/** The name of the function that a statement creates, after its comment. */
export function nameOf(statement: string): string {
  const header = statement.split('\n').find((line) => line.startsWith(creation)) ?? ''
  return header.slice(creation.length, header.indexOf('('))
}

function digest(scripts: readonly string[]): string {
  return sha256(scripts.join('\n')).toString('hex')
}

/**
 * SHA-256 of each function body in the scripts, as PostgreSQL stores it: the text between two `$$`. A body
 * that was parsed (RETURN, BEGIN ATOMIC) is stored as an empty text.
 */
export function digestBodies({ scripts }: Definitions): ReadonlySet<string> {
  const bodies = [...scripts.functions, ...scripts.triggers].flatMap((script) => script.split('$$'))
  return new Set(['', ...bodies].map((body) => digest([body])))
}
