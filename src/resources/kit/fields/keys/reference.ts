import Type from 'typebox'
import { idFilterPattern } from '#src/http/lists/query.ts'
import { Id } from '#src/http/schemas.ts'
import { type Field, field } from '../field.ts'

/** What becomes of a row when the row that it refers to is deleted. */
export const onDeletes = ['restrict', 'cascade', 'clear'] as const
export type OnDelete = (typeof onDeletes)[number]

/** What a field refers to: rows of another resource, by its name. */
export type Reference = { readonly name: string; readonly onDelete: OnDelete }

/**
 * A row of another resource, or of the same, in the same tenant. The name of the field ends in `Id`.
 * @param name of the resource
 * @param onDelete of the other row: `restrict` refuses it (409) while a row refers to it, `cascade` deletes the
 *   rows that refer to it, without events, and `clear` sets the field to null
 */
export const reference = (name: string, { onDelete }: { readonly onDelete: OnDelete }) =>
  field('bigint', Id, {
    written: Id,
    usual: `The ${name} that it ${onDelete === 'cascade' ? 'belongs' : 'refers'} to, by id`,
    filter: Type.String({ pattern: idFilterPattern, description: `Of this ${name}` }),
    oneOf: '[1-9][0-9]{0,15}',
    control: {
      as: 'choice',
      schema: (mayBeEmpty) => Type.String({ pattern: mayBeEmpty ? `^(${id})?$` : `^${id}$` }),
      offers: 'rows',
      read: Number,
      text: String,
    },
    refersTo: { name, onDelete },
  })

/** At most 15 digits, which a number keeps exactly. */
const id = '[1-9][0-9]{0,14}'

/** The fields of a resource that refer to others. */
export function referencesOf(fields: Readonly<Record<string, Field>>) {
  return Object.entries(fields).flatMap(([key, { refersTo, isNullable }]) =>
    refersTo === undefined ? [] : [{ key, isNullable, ...refersTo }],
  )
}

/** The key under which a response has the other row, if it was asked for: `project` of `projectId`. */
export function expansionOf(key: string): string {
  return key.replace(/Id$/, '')
}
