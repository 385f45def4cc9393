import type { Static } from 'typebox'
import type { Environment } from '#src/config/parse.ts'
import type { Delivery } from '#src/webhooks/endpoints/schemas.ts'
import { openApiClient } from './api-client.ts'
import { collect } from './collect.ts'
import { print, printJson, printMessage } from './output.ts'

type Shown = Static<typeof Delivery>

type ListOptions = {
  readonly endpoint: string
  readonly status?: string
  readonly type?: string
  readonly from?: string
  readonly to?: string
  readonly limit: number
  readonly json?: true
}

/** `gatehouse deliveries list`: the deliveries to an endpoint, newest first. */
export async function list(env: Environment, options: ListOptions): Promise<void> {
  const { endpoint, status, type: eventType, from, to, limit, json } = options
  const client = await openApiClient(env)
  const path = `/webhook-endpoints/${endpoint}/deliveries`
  const query = { status, eventType, from, to }
  const { items, isMore } = await collect<Shown>(client, path, query, limit)
  if (json) return printJson(items)
  for (const delivery of items) print(line(delivery))
  if (isMore) printMessage(`There are more than ${limit}: use --limit.`)
}

function line({ id, createdAt, eventType, status, attempts }: Shown): string {
  const last = attempts.at(-1)
  const answer = last === undefined ? 'no attempt yet' : (last.statusCode ?? last.error)
  return `${createdAt}  ${id}  ${status.padEnd(9)}  ${eventType}  ${answer}`
}

/** `gatehouse deliveries replay`: sends them again. */
export async function replay(
  env: Environment,
  ids: readonly string[],
  { json }: { readonly json?: true },
): Promise<void> {
  const client = await openApiClient(env)
  const replayed: Shown[] = []
  for (const id of ids) {
    const delivery = await client.post<Shown>(`/deliveries/${id}/replay`, undefined, { once: true })
    replayed.push(delivery)
    if (!json) print(`${delivery.id}  ${delivery.status}`)
  }
  if (json) printJson(replayed)
}
