import { type Cut, cutsOf } from './cut.ts'

/** What to look for in a text. */
export type Form = { name: string; cutsIn: (text: string) => Cut[] }

/** A form for every match of the pattern. */
export function form(pattern: RegExp, instead: string): Form {
  return { name: String(pattern), cutsIn: (text) => cutsOf(text, pattern, instead) }
}

export type Text = { name: string; text: string }

/** Texts with the same name, such as a pattern of paths: a hunt finds something in one of them. */
export type Group = { name: string; texts: readonly Text[] }

export type Hunt = { name: string; groups: readonly Group[]; forms: readonly Form[] }

type Find = Text & { cut: Cut }

/**
 * Looks for each form in each text of its hunts.
 * @returns what each hunt finds, and what has vanished: each group of a hunt in which no form is found, and each
 *   form that is found in none of its hunts
 */
export function carryOut<One extends Hunt>(
  hunts: readonly One[],
): { found: { hunt: One; finds: Find[] }[]; vanished: string[] } {
  const huntsOf = new Map<Form, string[]>()
  const seen = new Set<Form>()
  const vanished: string[] = []
  const found = hunts.map((hunt) => {
    for (const one of hunt.forms) huntsOf.set(one, [...(huntsOf.get(one) ?? []), hunt.name])
    const finds = hunt.groups.flatMap((group) => {
      const inGroup = group.texts.flatMap(({ name, text }) =>
        hunt.forms.flatMap((one) => {
          const cuts = one.cutsIn(text)
          if (cuts.length > 0) seen.add(one)
          return cuts.map((cut) => ({ name, text, cut }))
        }),
      )
      if (inGroup.length === 0) vanished.push(`${hunt.name}: nothing in ${group.name}`)
      return inGroup
    })
    return { hunt, finds }
  })
  for (const [one, names] of huntsOf) {
    if (!seen.has(one)) vanished.push(`${[...new Set(names)].join(', ')}: ${one.name}`)
  }
  return { found, vanished }
}
