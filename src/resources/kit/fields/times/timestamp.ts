import Type from 'typebox'
import { CreatedAt, UpdatedAt } from '#src/http/fields.ts'
import { Time } from '#src/http/schemas.ts'
import { isStorableTimeText } from '#src/http/times.ts'
import { field } from '../field.ts'

/** A time to the millisecond. Bodies name any time zone, responses UTC. */
export const timestamp = (description?: string) =>
  field('timestamptz', Time, {
    description,
    usual: 'A time to the millisecond, in UTC',
    ...ofTime,
    written: Time,
    filter: Time,
    control: {
      as: 'line',
      schema: (mayBeEmpty) =>
        Type.String({ maxLength: 23, pattern: mayBeEmpty ? `^(${local})?$` : `^${local}$` }),
      rule: 'A date and a time, in UTC',
      attributes: { type: 'datetime-local', step: 'any' },
      read(text) {
        const at = `${text}Z`
        const time = isStorableTimeText(at) ? new Date(at).toISOString() : ''
        // A Date makes 2 March of 30 February.
        return time.startsWith(text.slice(0, 16)) ? time : undefined
      },
      text: (value) => String(value).slice(0, -1),
    },
    neutral: '1970-01-01T00:00:00.000Z',
  })

/** When the row was created. */
export const created = () =>
  field('timestamptz', CreatedAt, { ...ofTime, initial: (_, now) => now })

/** When it was last changed. */
export const updated = () =>
  field('timestamptz', UpdatedAt, { ...ofTime, initial: (_, now) => now, isTouched: true })

const ofTime = {
  hasOrder: true,
  onPage: (value: unknown) => ({ at: String(value) }),
  example: ({ now }: { readonly now: Date }) => now.toISOString(),
} as const

/** What browsers send. */
const local = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,3})?)?'
