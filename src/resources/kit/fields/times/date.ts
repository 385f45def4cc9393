import { CalendarDate } from '#src/http/schemas.ts'
import { orEmpty } from '../control.ts'
import { field } from '../field.ts'

/** A date of the calendar, in no time zone. */
export const date = (description?: string) =>
  field('date', CalendarDate, {
    description,
    usual: 'A date of the calendar, in no time zone',
    written: CalendarDate,
    filter: CalendarDate,
    hasOrder: true,
    control: {
      as: 'line',
      schema: (mayBeEmpty) => orEmpty(CalendarDate, mayBeEmpty),
      rule: 'A date of the calendar',
      attributes: { type: 'date' },
      read: (text) => text,
      text: String,
    },
    onPage: (value) => ({ on: String(value) }),
    neutral: '1970-01-01',
  })
