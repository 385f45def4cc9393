import { Time } from '#src/http/schemas.ts'
import { field } from '../field.ts'

/** When the row was created. */
export const created = () => field('timestamptz', Time, { ...ofTime, initial: (_, now) => now })

/** When it was last changed. */
export const updated = () =>
  field('timestamptz', Time, { ...ofTime, initial: (_, now) => now, isTouched: true })

const ofTime = {
  onPage: (value: unknown) => ({ at: String(value) }),
  example: ({ now }: { readonly now: Date }) => now.toISOString(),
}
