import { closest } from 'fastest-levenshtein'
import type { Resource } from './define.ts'
import type { Field } from './fields/field.ts'
import { folder } from './fields/keys/folder.ts'
import { id } from './fields/keys/id.ts'
import { owner } from './fields/keys/people.ts'
import { tenant } from './fields/keys/tenant.ts'
import { created, updated } from './fields/times/timestamp.ts'

/** A field that the program reads or fills by its name, and the function that makes it. */
type Fixed = { readonly made: string; readonly field: Field }

const ofEvery: Readonly<Record<string, Fixed>> = {
  id: { made: 'id()', field: id() },
  tenantId: { made: 'tenant()', field: tenant() },
  createdAt: { made: 'created()', field: created() },
  updatedAt: { made: 'updated()', field: updated() },
}

const ofScope: Readonly<Record<Resource['scope'], Readonly<Record<string, Fixed>>>> = {
  owner: { userId: { made: 'owner()', field: owner() } },
  tenant: {},
  chain: { folderId: { made: 'folder()', field: folder() } },
}

/** Fields with the name of one that the program reads or fills itself. */
export function shadowFaultsOf({ scope, fields }: Resource): [boolean, string][] {
  const fixed = { ...ofEvery, ...ofScope[scope] }
  const shadowing = Object.keys(fixed).find((key) => !isMadeBy(fields[key], fixed[key]))
  return [
    [
      shadowing !== undefined,
      `has a field ${shadowing} that is not ${fixed[shadowing ?? '']?.made}: Gatehouse reads or fills it itself, so give yours another name`,
    ],
    [
      scope === 'chain' && Object.hasOwn(fields, 'teamId'),
      'has the scope chain and a field teamId, which is the team of the folder: give yours another name',
    ],
  ]
}

/** Names of fields that there are not. */
export function unknownFaultsOf(resource: Resource): [boolean, string][] {
  const keys = Object.keys(resource.fields)
  const [place, unknown = ''] = namedFieldsOf(resource).find(([, key]) => !keys.includes(key)) ?? []
  if (place === undefined) return []
  return [
    [
      true,
      `names ${unknown} in ${place}, which is no field: the nearest is ${closest(unknown, keys)}`,
    ],
  ]
}

function isMadeBy(field: Field | undefined, fixed: Fixed | undefined): boolean {
  if (field === undefined || fixed === undefined) return true
  const { column, isNullable, written, isTouched } = fixed.field
  return (
    field.column === column &&
    field.isNullable === isNullable &&
    (field.written === null) === (written === null) &&
    field.isTouched === isTouched
  )
}

/** Each place of the declaration that names a field, with the field. */
function namedFieldsOf(resource: Resource): [place: string, key: string][] {
  const { filters, sort, search, unique, actions, own, page, example, erased } = resource
  const lists: [string, readonly string[]][] = [
    ['filters', filters],
    ['sort', sort],
    ['search', search],
    ['unique', unique.flat()],
    ...Object.entries({ ...actions, ...own }).flatMap(
      ([name, { accepts = [], sets = [] }]): [string, readonly string[]][] => [
        [`accepts of ${name}`, accepts],
        [`sets of ${name}`, sets],
      ],
    ),
    ['page', page === null ? [] : [page.heading, ...(page.columns ?? [])]],
    ['the labels of page', Object.keys(page?.labels ?? {})],
    ['example', Object.keys(example)],
    ['erased', Object.keys(erased ?? {})],
  ]
  return lists.flatMap(([place, keys]) => keys.map((key): [string, string] => [place, key]))
}
