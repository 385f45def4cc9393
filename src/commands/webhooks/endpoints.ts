import { type Schemas, unwrap } from '#clients/typescript/src/client.ts'
import { openApi } from '../api/api-client.ts'
import type { Sources } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
import { long, printTable, stateCell } from '../kit/table.ts'

type EventType = Schemas['EventType']
type Json = { readonly json?: true }

/** `gatehouse endpoints list`. */
export async function list(sources: Sources, { json }: Json): Promise<void> {
  const { api } = await openApi(sources)
  const query = { limit: 100 }
  const items: Schemas['WebhookEndpoint'][] = []
  for await (const one of api.list('/webhook-endpoints', { params: { query } })) items.push(one)
  if (json) return printJson(items)
  showEndpoints(items)
}

function showEndpoints(endpoints: readonly Schemas['WebhookEndpoint'][]): void {
  printTable(
    ['Id', 'State', long('URL'), long('Events'), 'Limits'],
    endpoints.map(({ id, health, url, eventTypes, rateLimit, payload }) => [
      id,
      stateCell(health.state, health.retrying),
      url,
      eventTypes?.join(',') ?? 'all events',
      [
        ...(rateLimit === null ? [] : [`${rateLimit.perSecond}/s, burst ${rateLimit.burst}`]),
        ...(payload === 'thin' ? ['thin'] : []),
      ].join(', '),
    ]),
  )
}

type Limits = {
  /** Deliveries per second; false removes the limit. */
  readonly rateLimit?: number | false
  readonly burst?: number
  readonly thin?: boolean
}

type Given = Json &
  Limits & {
    readonly types?: string[]
    readonly description?: string
    readonly signature?: Schemas['SignatureProfile']
  }

/** The fields of a request; those that were not given are left out. */
function fieldsOf({ types, rateLimit, burst, thin, json: _, ...others }: Given) {
  return {
    ...others,
    ...(types !== undefined && { eventTypes: types }),
    ...(rateLimit === false && { rateLimit: null }),
    ...(typeof rateLimit === 'number' && {
      rateLimit: { perSecond: rateLimit, ...(burst !== undefined && { burst }) },
    }),
    ...(thin !== undefined && { payload: thin ? ('thin' as const) : ('full' as const) }),
  }
}

/** `gatehouse endpoints create`. */
export async function create(sources: Sources, url: string, given: Given): Promise<void> {
  const { api } = await openApi(sources)
  const body = { url, ...fieldsOf(given) }
  const endpoint = unwrap(await api.POST('/webhook-endpoints', { body }))
  if (given.json) return printJson(endpoint)
  print(`${endpoint.id}  ${endpoint.url}`)
  print(`Secret (not shown again): ${endpoint.secret}`)
}

/** `gatehouse endpoints update`: changes only what is given. */
export async function update(
  sources: Sources,
  id: string,
  given: Given & { readonly url?: string },
): Promise<void> {
  const { api } = await openApi(sources)
  const change = { params: { path: { id } }, body: fieldsOf(given) }
  const endpoint = unwrap(await api.PATCH('/webhook-endpoints/{id}', change))
  if (given.json) return printJson(endpoint)
  showEndpoints([endpoint])
}

/** `gatehouse endpoints test`: sends a test event and shows the response. */
export async function test(
  sources: Sources,
  id: string,
  { json, type }: Json & { readonly type?: string },
): Promise<void> {
  const { api } = await openApi(sources)
  // The command line has checked it.
  const body = type === undefined ? {} : { type: type as EventType }
  const request = { params: { path: { id } }, body }
  const delivery = unwrap(await api.POST('/webhook-endpoints/{id}/test', request))
  if (delivery.status !== 'succeeded') process.exitCode = 1
  if (json) return printJson(delivery)
  const [attempt] = delivery.attempts
  if (attempt === undefined) return print(delivery.status)
  const answer = attempt.statusCode ?? attempt.error
  print(`${delivery.status}: ${answer} in ${attempt.durationMs} ms`)
  if (attempt.explanation !== null) print(attempt.explanation)
}

/** `gatehouse endpoints probe`: sends correct and incorrect deliveries, and grades the receiver. */
export async function probe(sources: Sources, id: string, { json }: Json): Promise<void> {
  const { api } = await openApi(sources)
  const at = { params: { path: { id } } }
  const report = unwrap(await api.POST('/webhook-endpoints/{id}/probe', at))
  if (report.grade !== 'A') process.exitCode = 1
  if (json) return printJson(report)
  for (const { title, expected, accepted, statusCode, error } of report.cases) {
    const isRight = accepted === (expected === 'accept')
    const mark = accepted === null ? '?' : isRight ? '✓' : '✗'
    print(`${mark} ${title}: ${statusCode ?? error ?? 'not made in time'}, ${expected} expected`)
  }
  print(`Grade ${report.grade}`)
  for (const { problem, remedy } of report.faults) print(`- ${problem} ${remedy}`)
  const { profile, matchingProfile } = report
  if (matchingProfile !== null && matchingProfile !== profile) {
    print(`The receiver expects the signature profile ${matchingProfile}, not ${profile}.`)
  }
}
