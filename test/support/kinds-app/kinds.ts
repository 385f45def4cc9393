import {
  choice,
  computed,
  created,
  currency,
  date,
  decimal,
  defineResource,
  email,
  type Field,
  flag,
  id,
  integer,
  json,
  line,
  lines,
  member,
  money,
  optional,
  type Resource,
  reference,
  text,
  timestamp,
  updated,
  url,
} from 'gatehouse'
import Type from 'typebox'

/** Each kind of field, as docs/fields.md writes it. */
const kinds: Readonly<Record<string, Field>> = {
  'line(200)': line(200),
  'text(5_000)': text(5_000),
  "choice('open', 'done')": choice('open', 'done'),
  'email()': email(),
  'url()': url(),
  'lines(20, 100)': lines(20, 100),
  'integer()': integer(),
  'decimal(8, 2)': decimal(8, 2),
  'money()': money(),
  "currency('EUR')": currency('EUR'),
  'flag()': flag(),
  'date()': date(),
  'timestamp()': timestamp(),
  "reference('project', { onDelete: 'cascade' })": reference('project', { onDelete: 'cascade' }),
  'member()': member(),
  'json(shown, written)': json(Type.Object({}), Type.Object({})),
  'computed(integer(), ({ base }) => …)': computed(integer(), ({ base }) => `${base}`),
}

const fieldsOf = (more: object) => ({
  id: id(),
  ...more,
  createdAt: created(),
  updatedAt: updated(),
})
const actionsOf = (key: string) => ({
  read: { permission: 'post:read' },
  create: { permission: 'post:write', accepts: [key] },
  update: { permission: 'post:write', accepts: [key] },
})

/** What a reference refers to. */
export const projects = defineResource('project', {
  ...{ plural: 'projects', scope: 'tenant', fields: fieldsOf({ title: line(200) }) },
  actions: actionsOf('title'),
} as never) as unknown as Resource

type Declared = {
  readonly words: string
  readonly key: string
  /** The field that a body has: what a computed one reads. */
  readonly writtenKey: string
  readonly resource: Resource
}

/** Each kind with a resource that has everything which a declaration with it may have. */
export const declared: readonly Declared[] = Object.entries(kinds).map(([words, one]) => {
  const [kind = ''] = words.split('(')
  const key = one.refersTo !== undefined || one.isPerson ? 'valueId' : 'value'
  const writtenKey = one.computes === undefined ? key : 'base'
  const field = one.onLeave === 'clear' ? optional(one as Field<'bigint', false>) : one
  const base = writtenKey === key ? {} : { base: integer() }
  const declare = (more: object) =>
    defineResource(`${kind}-kind`, {
      ...{ plural: `${kind}_kinds`, scope: 'tenant', fields: fieldsOf({ ...base, [key]: field }) },
      ...{ actions: actionsOf(writtenKey), ...more },
    } as never) as unknown as Resource
  const wishes = [
    ...[{ filters: [key] }, { sort: [key] }, { search: [key] }, { unique: [[key]] }],
    { page: { label: kind, heading: 'id', columns: [key] } },
  ]
  const granted = {}
  for (const wish of wishes) {
    if (isDeclarable(declare, { ...granted, ...wish })) Object.assign(granted, wish)
  }
  return { words, key, writtenKey, resource: declare(granted) }
})

function isDeclarable(declare: (more: object) => unknown, more: object): boolean {
  try {
    declare(more)
    return true
  } catch (error) {
    // Any other mistake is one of this file.
    if (!/ has (no (filter|order|search)|a unique key|a page)/.test(String(error))) throw error
    return false
  }
}
