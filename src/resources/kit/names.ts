import type { Resource } from './define.ts'

/* What a resource and its fields are called: in paths, in the database, and in sentences. */

/** The path of a resource in the API. */
export function pathOf({ plural }: Pick<Resource, 'plural'>): string {
  return `/${plural.replaceAll('_', '-')}`
}

/** Its tag in the API description, and the path of its page in the reference. */
export function tagOf({ plural }: Pick<Resource, 'plural'>): string {
  return plural.replaceAll('_', '-')
}

/** The path of its list in a browser. */
export function pagePathOf(resource: Pick<Resource, 'plural'>): string {
  return `/app${pathOf(resource)}`
}

/** The heading and the button of the form for a new row. */
export function creationOf(resource: Pick<Resource, 'name' | 'page'>) {
  const word = wordOf(resource)
  return resource.page?.create ?? { heading: `New ${word}`, button: `Create ${word}` }
}

/** `BlogPost` of `blog-post`: its schema in the API description, and in the ids of its operations. */
export function titleOf(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

/** The name of a resource in a sentence. */
export function wordOf({ name }: Pick<Resource, 'name'>): string {
  return name.replaceAll('-', ' ')
}

/** The name of a resource in a sentence with its article: `an order`. */
export function aWord(resource: Pick<Resource, 'name'>): string {
  const word = wordOf(resource)
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`
}

/** The function and the trigger by which the database checks that a field names a member. */
export function memberCheckOf({ plural }: Pick<Resource, 'plural'>, key: string): string {
  return `check_${plural}_${columnOf(key)}`
}

/** The key that is broken by a field which names no member. */
export function memberKeyOf({ plural }: Pick<Resource, 'plural'>, key: string): string {
  return `${plural}_${columnOf(key)}_fkey`
}

/** The table with the words of the fields that its lists are searched by. */
export function wordsTableOf({ plural }: Pick<Resource, 'plural'>): string {
  return `${plural}_words`
}

/** The tables of the resources, with those of their words. */
export function tableNamesOf(resources: readonly Pick<Resource, 'plural' | 'search'>[]): string[] {
  return resources.flatMap((one) =>
    one.search.length === 0 ? [one.plural] : [one.plural, wordsTableOf(one)],
  )
}

/** The function and the trigger that keep these words. */
export function wordsKeeperOf(resource: Pick<Resource, 'plural'>): string {
  return `keep_${wordsTableOf(resource)}`
}

/** The column of a field: `author_id` of `authorId`. */
export function columnOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
