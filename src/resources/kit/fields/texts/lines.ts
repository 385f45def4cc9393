import Type from 'typebox'
import { Line, OptionalText } from '#src/http/schemas.ts'
import { lineCharacter } from '#src/runtime/text.ts'
import { field } from '../field.ts'

const isLine = new RegExp(`^${lineCharacter}+$`, 'u')

/** A list of lines, in their order. */
export const lines = (maxItems: number, maxLength: number, description?: string) => {
  const One = Line(maxLength)
  const rule = `At most ${maxItems} lines of at most ${maxLength} characters`
  return field('jsonb', Type.Array(Type.String()), {
    description,
    usual: rule,
    written: Type.Array(One, { maxItems }),
    control: {
      as: 'area',
      schema: () => OptionalText(maxItems * (maxLength + 2)),
      rule,
      attributes: { rows: 5 },
      read(text) {
        const all = text.split(/\r?\n/).filter((one) => one.trim() !== '')
        const isFit = (one: string) => isLine.test(one) && [...one].length <= maxLength
        return all.length <= maxItems && all.every(isFit) ? all : undefined
      },
      text: (value) => [value].flat().join('\n'),
      empty: [],
    },
    onPage: (value) => ({ text: [value].flat().join('\n') }),
    neutral: [],
    ...faultOf(maxItems, maxLength),
  })
}

function faultOf(...limits: readonly number[]): { fault?: string } {
  const areLimits = limits.every((one) => Number.isInteger(one) && one > 0)
  return areLimits ? {} : { fault: `with at most ${limits.join(' lines of ')} characters` }
}
