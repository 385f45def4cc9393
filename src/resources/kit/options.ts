import { closest } from 'fastest-levenshtein'

/** The options that a declaration can have, and those within them. */
export type Known = { readonly [option: string]: true | Known }

/**
 * For `satisfies`: the compiler refuses a list that lacks an option of the type or has another one.
 * Of a union the options of each member.
 */
export type OptionsOf<Declared> = { readonly [Option in KeysOf<Declared>]: true | Known }

type KeysOf<Declared> = Declared extends unknown ? keyof Declared : never

/**
 * Refuses an option that would be ignored. The compiler does too, but apps run without it.
 * @param subject the declaration in a sentence, such as `The job digest`
 * @throws Error with the option as its cause, by which `loadApp` finds the line
 */
export function requireKnown(subject: string, given: object, known: Known): void {
  const path = unknownIn(given, known)
  if (path === null) return
  const [option = '', names] = [path.at(-1), namesAt(known, path.slice(0, -1))]
  throw new Error(
    `${subject} has the unknown option ${path.join('.')}. Did you mean ${closest(option, names)}?`,
    { cause: option },
  )
}

function unknownIn(given: object, known: Known): string[] | null {
  for (const [option, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, option)) return [option]
    const within = known[option]
    if (typeof within !== 'object' || typeof value !== 'object' || value === null) continue
    const path = unknownIn(value, within)
    if (path !== null) return [option, ...path]
  }
  return null
}

function namesAt(known: Known, path: readonly string[]): string[] {
  const at = path.reduce<true | Known>((one, option) => Object(one)[option], known)
  return Object.keys(at)
}
