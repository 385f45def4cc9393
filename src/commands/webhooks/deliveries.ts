import { setTimeout as pause } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { Environment } from '#src/config/parse.ts'
import type { EndpointReplay } from '#src/webhooks/history/replays.ts'
import type { Delivery } from '#src/webhooks/history/schemas.ts'
import { print, printJson, printMessage } from '../kit/output.ts'
import { openApiClient } from './api-client.ts'
import { collect } from './collect.ts'

type Shown = Static<typeof Delivery>
/** As the API returns it. */
type Replay = Pick<EndpointReplay, 'id' | 'done' | 'total' | 'finishedAt' | 'cancelledAt'>

type Matching = {
  readonly endpoint: string
  readonly status?: string
  readonly type?: string
  readonly httpStatus?: string
  readonly event?: string
  readonly from?: string
  readonly to?: string
  readonly json?: true
}

type ListOptions = Matching & { readonly limit: number }

/** `gatehouse deliveries list`: the deliveries to an endpoint, newest first. */
export async function list(env: Environment, options: ListOptions): Promise<void> {
  const { endpoint, limit, json } = options
  const client = await openApiClient(env)
  const path = `/webhook-endpoints/${endpoint}/deliveries`
  const query = filterOf(options)
  const { items, isMore } = await collect<Shown>(client, path, query, limit)
  if (json) return printJson(items)
  for (const delivery of items) print(line(delivery))
  if (isMore) printMessage(`There are more than ${limit}: use --limit.`)
}

function filterOf({ status, type: eventType, httpStatus, event: eventId, from, to }: Matching) {
  return { status, eventType, httpStatus, eventId, from, to }
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

const longestMs = 90 * 86_400_000 // src/webhooks/history/replays.ts
const pollMs = 1_000

/** `gatehouse deliveries replay --endpoint`: shows how many match; with `yes` sends them. */
export async function replayMatching(
  env: Environment,
  options: Matching & { readonly yes?: true },
): Promise<void> {
  const { endpoint, yes, json } = options
  const client = await openApiClient(env)
  const path = `/webhook-endpoints/${endpoint}`
  // The same range for the number and the replay.
  const to = options.to ?? new Date().toISOString()
  const from = options.from ?? new Date(Date.parse(to) - longestMs).toISOString()
  const filter = { ...filterOf(options), from, to }
  const { count } = await client.get<{ count: number }>(`${path}/deliveries/count`, filter)
  printMessage(count === 1 ? '1 delivery matches.' : `${count} deliveries match.`)
  if (count === 0) return
  if (!yes) {
    printMessage('Nothing was sent. To send them again, add --yes.')
    return
  }
  let replay = await client.post<Replay>(`${path}/replay`, filter, { once: true })
  printMessage(`Replay ${replay.id}`)
  while (replay.finishedAt === null) {
    await pause(pollMs)
    replay = await client.get<Replay>(`${path}/replays/${replay.id}`)
    if (replay.finishedAt === null) printMessage(progressText(replay))
  }
  if (json) return printJson(replay)
  print(`${replay.id}  ${progressText(replay)}`)
}

/** `gatehouse deliveries cancel`. */
export async function cancel(
  env: Environment,
  id: string,
  { endpoint, json }: { readonly endpoint: string; readonly json?: true },
): Promise<void> {
  const client = await openApiClient(env)
  const path = `/webhook-endpoints/${endpoint}/replays/${id}/cancel`
  const replay = await client.post<Replay>(path, undefined, { once: true })
  if (json) return printJson(replay)
  print(`${replay.id}  ${progressText(replay)}`)
}

function progressText({ done, total, cancelledAt }: Replay): string {
  const state = cancelledAt === null ? '' : 'cancelled: '
  return `${state}${done} of ${total} deliveries scheduled`
}
