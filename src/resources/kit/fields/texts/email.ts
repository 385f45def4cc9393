import Type from 'typebox'
import { orEmpty } from '../control.ts'
import { field } from '../field.ts'

const Email = Type.String({ format: 'email', maxLength: 320 })

/** The address of a mailbox. */
export const email = (description?: string) =>
  field('text', Type.String({ examples: ['ada@acme.example'] }), {
    description,
    usual: 'The address of a mailbox',
    written: Email,
    filter: Email,
    control: {
      as: 'line',
      schema: (mayBeEmpty) => orEmpty(Email, mayBeEmpty),
      rule: 'An email address',
      attributes: { type: 'email', maxlength: 320 },
      read: (text) => text,
      text: String,
    },
    onPage: (value) => ({ text: String(value), href: `mailto:${value}` }),
    isLong: true,
    neutral: 'erased@erased.invalid',
  })
