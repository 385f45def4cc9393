import type { Static } from 'typebox'
import type { Environment } from '#src/config/parse.ts'
import type { Endpoint } from '#src/webhooks/endpoints/schemas.ts'
import type { Delivery } from '#src/webhooks/history/schemas.ts'
import type { ProbeReport } from '#src/webhooks/probe/schemas.ts'
import { print, printJson } from '../kit/output.ts'
import { openApiClient } from './api-client.ts'
import { collect } from './collect.ts'

type Shown = Static<typeof Endpoint>
type Json = { readonly json?: true }

/** `gatehouse endpoints list`. */
export async function list(env: Environment, { json }: Json): Promise<void> {
  const client = await openApiClient(env)
  const { items } = await collect<Shown>(client, '/webhook-endpoints', {})
  if (json) return printJson(items)
  for (const endpoint of items) print(line(endpoint))
}

function line({ id, health, url, eventTypes, rateLimit, payload }: Shown): string {
  const limits = [
    ...(rateLimit === null ? [] : [`${rateLimit.perSecond}/s, burst ${rateLimit.burst}`]),
    ...(payload === 'thin' ? ['thin'] : []),
  ]
  return [id, health.state.padEnd(10), url, eventTypes?.join(',') ?? 'all events', ...limits].join(
    '  ',
  )
}

type Limits = {
  /** Deliveries per second; false removes the limit. */
  readonly rateLimit?: number | false
  readonly burst?: number
  readonly thin?: boolean
}

type NewEndpoint = Json &
  Limits & {
    readonly types?: string[]
    readonly description?: string
    readonly signature?: string
  }

/** The fields of a request; those that were not given are left out. */
function limitsOf({ rateLimit, burst, thin }: Limits) {
  return {
    ...(rateLimit === false && { rateLimit: null }),
    ...(typeof rateLimit === 'number' && {
      rateLimit: { perSecond: rateLimit, ...(burst !== undefined && { burst }) },
    }),
    ...(thin !== undefined && { payload: thin ? 'thin' : 'full' }),
  }
}

/** `gatehouse endpoints create`. */
export async function create(
  env: Environment,
  url: string,
  { types, description, signature, json, ...limits }: NewEndpoint,
): Promise<void> {
  const client = await openApiClient(env)
  const body = { url, eventTypes: types, description, signature, ...limitsOf(limits) }
  const endpoint = await client.post<Shown & { secret: string }>('/webhook-endpoints', body, {
    once: true,
  })
  if (json) return printJson(endpoint)
  print(`${endpoint.id}  ${endpoint.url}`)
  print(`Secret (not shown again): ${endpoint.secret}`)
}

/** `gatehouse endpoints update`: changes only what is given. */
export async function update(
  env: Environment,
  id: string,
  { types, description, signature, json, url, ...limits }: NewEndpoint & { readonly url?: string },
): Promise<void> {
  const client = await openApiClient(env)
  const body = { url, eventTypes: types, description, signature, ...limitsOf(limits) }
  const endpoint = await client.patch<Shown>(`/webhook-endpoints/${id}`, body)
  if (json) return printJson(endpoint)
  print(line(endpoint))
}

/** `gatehouse endpoints test`: sends a test event and shows the response. */
export async function test(
  env: Environment,
  id: string,
  { type, json }: Json & { readonly type?: string },
): Promise<void> {
  const client = await openApiClient(env)
  const path = `/webhook-endpoints/${id}/test`
  const delivery = await client.post<Static<typeof Delivery>>(path, { type })
  if (delivery.status !== 'succeeded') process.exitCode = 1
  if (json) return printJson(delivery)
  const [attempt] = delivery.attempts
  if (attempt === undefined) return print(delivery.status)
  const answer = attempt.statusCode ?? attempt.error
  print(`${delivery.status}: ${answer} in ${attempt.durationMs} ms`)
  if (attempt.explanation !== null) print(attempt.explanation)
}

/** `gatehouse endpoints probe`: sends correct and incorrect deliveries, and grades the receiver. */
export async function probe(env: Environment, id: string, { json }: Json): Promise<void> {
  const client = await openApiClient(env)
  const report = await client.post<Static<typeof ProbeReport>>(`/webhook-endpoints/${id}/probe`)
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
