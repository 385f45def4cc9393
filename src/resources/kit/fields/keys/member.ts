import Type from 'typebox'
import { idFilterPattern } from '#src/http/lists/query.ts'
import { Id } from '#src/http/schemas.ts'
import { type Field, field } from '../field.ts'
import { expansionOf } from './reference.ts'

/** What becomes of the field when the person leaves the tenant. */
export const onLeaves = ['clear', 'keep'] as const
export type OnLeave = (typeof onLeaves)[number]

/**
 * A person who is a member of the tenant when the row is written. The name of the field ends in `Id`.
 * @param onLeave `clear`, the default, sets the field to null after the person has left, without an event; it is
 *   optional then. `keep` leaves the id, whose name nobody learns any more
 */
export const member = ({ onLeave = 'clear' }: { readonly onLeave?: OnLeave } = {}) =>
  field('bigint', Id, {
    written: Id,
    usual: `A member of the tenant, by id${onLeave === 'clear' ? '; null after they have left' : ''}`,
    filter: Type.String({ pattern: idFilterPattern, description: 'Of this user' }),
    oneOf: '[1-9][0-9]{0,15}',
    control: {
      as: 'choice',
      schema: (mayBeEmpty) => Type.String({ pattern: mayBeEmpty ? `^(${id})?$` : `^${id}$` }),
      offers: 'members',
      read: Number,
      text: String,
    },
    isPerson: true,
    example: ({ userId }) => userId,
    onLeave,
  })

/** At most 15 digits, which a number keeps exactly. */
const id = '[1-9][0-9]{0,14}'

/** The fields of a resource that name members, with their keys in a response with `?expand=`. */
export function membersOf(fields: Readonly<Record<string, Field>>) {
  return Object.entries(fields).flatMap(([key, { onLeave, isNullable }]) =>
    onLeave === undefined ? [] : [{ key, isNullable, onLeave, name: expansionOf(key) }],
  )
}
