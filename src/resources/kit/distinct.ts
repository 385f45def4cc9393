import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Resource } from './define.ts'
import { checkLinks } from './links.ts'
import { tableNamesOf, tagOf, titleOf } from './names.ts'

/**
 * Returns the list. Without the check, of two entries with the same key one would silently replace the other.
 * @throws Error with the text of `wordsOf` for the first repeated key
 */
export function distinct<const All extends readonly unknown[]>(
  all: All,
  keyOf: (one: All[number]) => string,
  wordsOf: (key: string) => string,
): All {
  const keys = all.map(keyOf)
  const doubled = keys.find((key, index) => keys.indexOf(key) < index)
  if (doubled !== undefined) throw new Error(wordsOf(doubled))
  return all
}

/**
 * The same of what the program has together with what the app declares.
 * @throws OperatorError with the text of `problemOf`, if the app declares something that the program has
 */
export function distinctFromOwn<const All extends readonly unknown[]>(
  all: All,
  keyOf: (one: All[number]) => string,
  problemOf: (key: string) => string,
): All {
  try {
    return distinct(all, keyOf, problemOf)
  } catch (error) {
    throw nameTaken(error instanceof Error ? error.message : String(error))
  }
}

function nameTaken(problem: string): OperatorError {
  return new OperatorError(problem, 'Give the declared resource another name.')
}

/**
 * The error of a name in the API description that something else has too: that of the declared resource with the
 * longest name in it. Null if there is none.
 * @param taken the name of a schema or an operation, such as `NewTask`
 */
export function takenByResource(
  taken: string,
  resources: readonly Resource[],
  placeOf: (name: string) => string,
): OperatorError | null {
  const [resource] = resources
    .filter(
      ({ title, plural }) => taken.includes(title) || taken.includes(titleOf(tagOf({ plural }))),
    )
    .sort((one, other) => other.title.length - one.title.length)
  if (resource === undefined) return null
  const { name } = resource
  return nameTaken(
    `The resource ${name} at ${placeOf(name)} makes the name ${taken} of the API description, which another part of it has.`,
  )
}

/** @throws Error if two resources have one name or table, or a reference leads nowhere */
export function distinctResources<const All extends readonly Resource[]>(all: All): All {
  const facts = ['name', 'plural'] as const
  for (const fact of facts) {
    distinct(
      all,
      (one) => one[fact],
      (value) => `Two resources have the ${fact} ${value}.`,
    )
  }
  distinct(tableNamesOf(all), String, (name) => `Two resources have the table ${name}.`)
  checkLinks(all)
  return all
}
