import Type from 'typebox'
import { explained } from '#src/http/schemas.ts'
import { orEmpty } from '../control.ts'
import { field } from '../field.ts'

const mostDigits = 38

/**
 * An exact number. In JSON it is a string, because programs read a number of JSON with some digits only.
 * @param precision the number of its digits, those after the point included
 * @param scale the number of digits after the point, which every response has
 */
export const decimal = (precision: number, scale: number, description?: string) => {
  const whole = precision - scale
  const digits = `-?(0|[1-9][0-9]{0,${whole - 1}})${scale === 0 ? '' : `(\\.[0-9]{1,${scale}})?`}`
  const rule = `number with at most ${counted(whole)} before the point and ${scale === 0 ? 'none' : scale} after it`
  const example = `12.${'5'.padEnd(scale, '0')}`.slice(0, scale === 0 ? 2 : scale + 3)
  const written = Type.String({
    pattern: explained(`^${digits}$`, `must be a string with a ${rule}, such as "${example}"`),
    examples: [whole === 1 ? example.slice(1) : example],
  })
  return field('numeric', Type.String({ examples: [example] }), {
    description,
    usual: `A ${rule}, as a string`,
    columnType: `numeric(${precision},${scale})`,
    written,
    filter: written,
    hasOrder: true,
    control: {
      as: 'line',
      schema: (mayBeEmpty) => orEmpty(written, mayBeEmpty),
      rule: `A ${rule}`,
      attributes: { type: 'number', step: (10 ** -scale).toFixed(scale) },
      read: (text) => text,
      text: String,
    },
    onPage: (value) => ({ words: grouped(String(value)) }),
    neutral: (0).toFixed(scale),
    ...faultOf(precision, scale),
  })
}

function faultOf(precision: number, scale: number): { fault?: string } {
  const isNumber = Number.isInteger(precision) && Number.isInteger(scale)
  const hasDigits = precision > scale && scale >= 0 && precision <= mostDigits
  if (isNumber && hasDigits) return {}
  return {
    fault: `with decimal(${precision}, ${scale}), but needs 1 to ${mostDigits} digits and fewer after the point`,
  }
}

function counted(digits: number): string {
  return digits === 1 ? 'one digit' : `${digits} digits`
}

/** `1,234.50` of `1234.50`. */
function grouped(number: string): string {
  const [, sign = '', whole = '0', rest = ''] = /^(-?)(\d+)(.*)$/.exec(number) ?? []
  return `${sign}${BigInt(whole).toLocaleString('en')}${rest}`
}
