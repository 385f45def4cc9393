import { sha256 } from '#src/crypto/hash.ts'
import { listAssets, readTextAsset } from '#src/runtime/assets.ts'
import { functionPrivileges, tablePrivileges } from './tables.ts'

/** The parts of the database that `migrate` applies after the migrations, in this order. */
export const parts = ['functions', 'policies', 'triggers', 'privileges'] as const
export type Part = (typeof parts)[number]

export type Definitions = {
  /** The scripts of each part. Privileges are granted from src/schema/tables.ts. */
  scripts: Readonly<Record<Exclude<Part, 'privileges'>, readonly string[]>>
  /** SHA-256 of each part, in hexadecimal. */
  digests: Readonly<Record<Part, string>>
}

const top = 'prisma'

/**
 * Reads the files of this release: prisma/functions, prisma/policies.sql and prisma/triggers.sql.
 * @param variant a folder below prisma with files that replace those of the same path, or are added
 */
export async function readDefinitions(variant?: string): Promise<Definitions> {
  const functions = await listFunctions(variant)
  const read = (path: string) => readFile(path, variant)
  return describe({
    functions: await Promise.all(functions.map(read)),
    policies: [await read('policies.sql')],
    triggers: [await read('triggers.sql')],
  })
}

export function describe(scripts: Definitions['scripts']): Definitions {
  return {
    scripts,
    digests: {
      functions: digest(scripts.functions),
      policies: digest(scripts.policies),
      triggers: digest(scripts.triggers),
      privileges: digest([JSON.stringify([tablePrivileges, functionPrivileges])]),
    },
  }
}

async function listFunctions(variant: string | undefined): Promise<string[]> {
  const list = async (folder: string) => {
    const paths = await listAssets(`${folder}/functions`)
    return paths.map((path) => path.slice(folder.length + 1))
  }
  const own = variant === undefined ? [] : await list(`${top}/${variant}`)
  return [...new Set([...(await list(top)), ...own])].toSorted()
}

async function readFile(path: string, variant: string | undefined): Promise<string> {
  const own = `${top}/${variant}/${path}`
  const isReplaced = variant !== undefined && (await listAssets(`${top}/${variant}`)).includes(own)
  return readTextAsset(isReplaced ? own : `${top}/${path}`)
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
