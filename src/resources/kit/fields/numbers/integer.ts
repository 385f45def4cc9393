import Type from 'typebox'
import { explained } from '#src/http/schemas.ts'
import { field } from '../field.ts'

const wholePattern = explained('^(0|-?[1-9][0-9]{0,15})$', 'must be a whole number')

/** A whole number that JSON keeps exactly. */
export const integer = (
  description?: string,
  { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = {},
) => {
  const isAny = !Number.isSafeInteger(minimum - 1) && !Number.isSafeInteger(maximum + 1)
  const rule = isAny ? 'A whole number' : `A whole number from ${minimum} to ${maximum}`
  return field('bigint', Type.Integer(), {
    description,
    usual: rule,
    written: Type.Integer({ minimum, maximum }),
    filter: Type.String({ pattern: wholePattern }),
    hasOrder: true,
    control: {
      as: 'line',
      schema: wholeNumber,
      rule,
      attributes: { inputmode: 'numeric' },
      read(text) {
        const value = Number(text)
        return value < minimum || value > maximum ? undefined : value
      },
      text: String,
    },
    neutral: Math.max(minimum, 0),
    ...(minimum > maximum && { fault: 'with a range of no numbers' }),
  })
}

/** At most 15 digits, which a JSON number keeps exactly. */
function wholeNumber(mayBeEmpty: boolean) {
  const digits = '(0|-?[1-9][0-9]{0,14})'
  return Type.String({ maxLength: 16, pattern: mayBeEmpty ? `^${digits}?$` : `^${digits}$` })
}
