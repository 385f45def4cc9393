/** What a field of each kind needs in the command line, and two values for tests, as TypeScript has them. */
export type Facts = {
  /** The kind takes a length, at most this one. */
  readonly longest?: number
  /** The kind takes words. */
  readonly hasWords?: true
  /** The kind is of members: the field is optional, its name ends in Id, and rows belong to a tenant. */
  readonly isOfMembers?: true
  /** Without them the words of a choice, or a text. */
  readonly values?: readonly [one: string, other: string]
}

export const kinds = {
  line: { longest: 1_000 },
  text: { longest: 100_000 },
  choice: { hasWords: true },
  integer: { values: ['1', '2'] },
  flag: { values: ['true', 'false'] },
  date: { values: ["'2026-03-02'", "'2026-03-03'"] },
  email: { values: ["'ada@acme.example'", "'grace@acme.example'"] },
  member: { isOfMembers: true, values: ['writer.userId', 'colleague.userId'] },
  url: { values: ["'https://acme.example/plan'", "'https://acme.example/map'"] },
} as const satisfies Record<string, Facts>

export type Kind = keyof typeof kinds

export function isKind(text: string): text is Kind {
  return Object.hasOwn(kinds, text)
}

/** Two values of a field. */
export function valuesOf({
  kind,
  words,
}: {
  readonly kind: Kind
  readonly words: readonly string[]
}): readonly [one: string, other: string] {
  const { values }: Facts = kinds[kind]
  if (values !== undefined) return values
  const [one = 'A', other = 'x'] = words
  return [`'${one}'`, `'${other}'`]
}
