import { InvalidArgumentError } from '@commander-js/extra-typings'

export const json = ['--json', 'Print the result as JSON'] as const

/** The arguments of `addHelpText` for the end of a command's help, after its options. */
export function details(failure: string, text: string) {
  return ['after', `\n${text}\n\nExit status: 0 success, 1 ${failure}, 2 wrong usage.`] as const
}

export function readAmount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number of minor units.')
  }
  return Number(text)
}

export function readCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number from 1.')
  }
  return Number(text)
}

/** Deliveries per second, as src/webhooks/schedule/rate-limit.ts allows. */
export function readRate(text: string): number {
  if (/^([1-9]\d{0,2}|1000)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 1000.')
}

export function readSeconds(text: string): number {
  if (/^(0|[1-9]\d{0,5})$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of seconds.')
}

export function readHttpStatus(text: string): string {
  if (/^([1-5]\d\d|[1-5]xx|none)$/.test(text)) return text
  throw new InvalidArgumentError('It must be a status (404), a class (4xx) or none.')
}

export function readUuid(text: string): string {
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a UUID.')
}

export function readUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new InvalidArgumentError('It must be an http or https URL.')
}

export function readTime(text: string): string {
  const isTime =
    /^\d{4}-\d\d-\d\dT.+(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
  if (isTime) return text
  throw new InvalidArgumentError('It must be an RFC 3339 time.')
}
