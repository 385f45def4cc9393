import { InvalidArgumentError } from '@commander-js/extra-typings'
import { lineCharacter, seenCharacter } from '#src/runtime/text.ts'

export const json = ['--json', 'Print the result as JSON'] as const

/** For commands that use the HTTP API. */
export const needsToken = `Needs \`gatehouse login\`, or GATEHOUSE_TOKEN: an API token of the
account page or a service token of the tenant. The instance is GATEHOUSE_URL,
else BASE_URL, else the demo that runs in this folder. Set token and address in
the same place: both in the environment or both in .env. The address is https,
except on loopback.`

/** Why a command that uses the HTTP API fails. */
export const apiFailed = 'the API refused it or did not respond'

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

/** As `Line` of src/http/schemas.ts. */
export function readName(text: string): string {
  if (new RegExp(`^(?=.*${seenCharacter})${lineCharacter}{1,100}$`, 'u').test(text)) return text
  throw new InvalidArgumentError('It must be one line of at most 100 characters.')
}

export function readMigrationName(text: string): string {
  if (/^[a-z0-9]+([_-][a-z0-9]+)*$/.test(text) && text.length <= 60) return text
  throw new InvalidArgumentError(
    'It must be lower-case words with hyphens or underscores, at most 60 characters.',
  )
}

/** Adds the value of a field to those that were given before. */
export function readFill(text: string, before: Readonly<Record<string, string>> = {}) {
  const [, field, value] = /^([a-z-]+\.[a-zA-Z0-9]+)=(.*)$/s.exec(text) ?? []
  if (field !== undefined && value !== undefined) return { ...before, [field]: value }
  throw new InvalidArgumentError('It must be a field and its value, like task.status=open.')
}

/** Adds a table or column to those that were given before. */
export function readStored(text: string, before: readonly string[] = []): string[] {
  if (/^[a-z_0-9]+(\.[a-z_0-9]+)?$/.test(text)) return [...before, text]
  throw new InvalidArgumentError('It must be a table or a column, like notes or tasks.subject.')
}

export function readDays(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 366) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 366.')
}

/** Deliveries per second, as src/webhooks/schedule/rate-limit.ts allows. */
export function readRate(text: string): number {
  if (/^([1-9]\d{0,2}|1000)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 1000.')
}

export function readHttpStatus(text: string): string {
  if (/^([1-5]\d\d|[1-5]xx|none)$/.test(text)) return text
  throw new InvalidArgumentError('It must be a status (404), a class (4xx) or none.')
}

export function readUuid(text: string): string {
  if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a UUID.')
}

/** As `appTypeName` of src/webhooks/events/app-types.ts, which takes longer to load than the help. */
export function readEventType(text: string): string {
  if (text.length <= 100 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(text)) return text
  throw new InvalidArgumentError('It must be the name of an event type, like invoice.created.')
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
