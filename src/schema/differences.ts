import type pg from 'pg'
import {
  type CatalogueObject,
  type Privileges,
  readCatalogue,
  readPrivileges,
} from './catalogue.ts'
import type { SchemaRecord } from './record.ts'

export type Difference = {
  /** What it is about: a table, or the signature of a function. */
  object: string
  problem: string
  /** Only where `migrate` cannot restore it. */
  remedy?: string
}

/**
 * Compares the catalogue with what the last `migrate` recorded.
 * @param record read before: a `migrate` that ends in between makes differences (verify.ts looks again)
 * @param roles whose privileges are compared, beside those of PUBLIC
 * @param lesser whether a privilege that a role has no longer is a difference, too
 */
export async function findDifferences(
  client: pg.ClientBase,
  record: SchemaRecord,
  roles: readonly string[],
  { lesser } = { lesser: true },
): Promise<Difference[]> {
  const tables = record.objects.flatMap(({ kind, name }) =>
    kind === 'table' || kind === 'view' ? [name] : [],
  )
  const found = await readCatalogue(client, tables)
  const held = new Map<string, Privileges>()
  for (const role of [...roles, 'PUBLIC']) held.set(role, await readPrivileges(client, role))
  return [
    ...compareObjects(record.objects, found),
    ...[...held].flatMap(([role, rights]) => comparePrivileges(record, role, rights, lesser)),
  ]
}

function compareObjects(
  recorded: readonly CatalogueObject[],
  found: readonly CatalogueObject[],
): Difference[] {
  const keyOf = ({ kind, name }: CatalogueObject) => `${kind} ${name}`
  const present = new Map(found.map((object) => [keyOf(object), object]))
  const known = new Set(recorded.map(keyOf))
  const changed = recorded.flatMap((object) => {
    const other = present.get(keyOf(object))
    if (other === undefined) return [toDifference(object, 'is missing')]
    const aspects = Object.keys(object.facts).filter(
      (aspect) => object.facts[aspect] !== other.facts[aspect],
    )
    // A changed setting or body is part of the definition.
    const [aspect] = aspects.toSorted((a, b) => aspectOrder.indexOf(a) - aspectOrder.indexOf(b))
    if (aspect === undefined) return []
    const difference = toDifference(object, describeChange(object, other, aspect))
    const { kind, name, facts } = object
    return [
      aspect === 'owner'
        ? { ...difference, remedy: ownerRemedy(kind, name, facts.owner ?? '') }
        : difference,
    ]
  })
  // Functions of one's own are allowed; a policy or trigger of these tables is not.
  const added = found
    .filter((object) => !known.has(keyOf(object)) && object.kind !== 'function')
    .map((object) => toDifference(object, 'is in no file'))
  return [...changed, ...added]
}

/** The remedy for an object of another owner: only a superuser or that owner can change it. */
export function ownerRemedy(kind: string, name: string, owner: string): string {
  return `As a superuser: ALTER ${kind.toUpperCase()} ${name} OWNER TO ${owner};`
}

const aspectOrder = [
  'owner',
  'settings',
  'row-level security',
  'roles',
  'enabled',
  'body',
  'definition',
]

function describeChange(recorded: CatalogueObject, found: CatalogueObject, aspect: string): string {
  const [before, after] = [recorded.facts[aspect], found.facts[aspect]]
  if (aspect === 'definition' || aspect === 'body') return 'was changed by hand'
  const show = (text: string | undefined) => text || 'none'
  return `was changed by hand: ${aspect} ${show(after)} instead of ${show(before)}`
}

function toDifference({ kind, name, table }: CatalogueObject, what: string): Difference {
  const text =
    table !== null && table !== name
      ? `${kind} ${name.slice(table.length + 1)} of the table ${table}`
      : `${kind} ${name}`
  return { object: table ?? name, problem: `The ${text} ${what}.` }
}

/** Only objects that `migrate` recorded: rights on others are of no concern. */
function comparePrivileges(
  record: SchemaRecord,
  role: string,
  held: Privileges,
  lesser: boolean,
): Difference[] {
  const who = role === 'PUBLIC' ? 'Everyone' : `The role ${role}`
  const wanted = record.privileges.get(role)
  if (wanted === undefined) {
    return [
      { object: role, problem: `${who} has no privileges recorded by \`gatehouse migrate\`.` },
    ]
  }
  const objects = record.objects.filter(({ kind }) => kind !== 'policy' && kind !== 'trigger')
  return objects.flatMap(({ name }) => {
    const [needed, given] = [wanted[name] ?? [], held[name] ?? []]
    const extra = given.filter((right) => !needed.includes(right))
    const missing = needed.filter((right) => !given.includes(right))
    if (extra.length > 0) {
      return [
        {
          object: name,
          problem: `${who} may ${extra.join(', ')} ${name}, which it does not need.`,
        },
      ]
    }
    if (missing.length > 0 && lesser) {
      return [
        { object: name, problem: `${who} may not ${missing.join(', ')} ${name}, which it needs.` },
      ]
    }
    return []
  })
}
