import { setTimeout as pause } from 'node:timers/promises'
import { type GatehouseClient, type Schemas, unwrap } from '#clients/typescript/src/client.ts'
import { openApi } from '../api/api-client.ts'
import type { Sources } from '../kit/environment.ts'
import { createProgress, print, printJson, printMessage } from '../kit/output.ts'
import { long, printTable, stateCell } from '../kit/table.ts'

type Delivery = Schemas['Delivery']
type Replay = Schemas['EndpointReplay']
type Json = { readonly json?: true }

type Filter = {
  readonly status?: Schemas['DeliveryStatus']
  readonly type?: string
  readonly httpStatus?: string
  readonly event?: string
  readonly from?: string
  readonly to?: string
}

type Matching = Filter & Json & { readonly endpoint: string }

type Listed = { items: Delivery[]; isMore: boolean }

/** `gatehouse deliveries list`: the deliveries to one endpoint or to all, newest first. */
export async function list(
  sources: Sources,
  {
    endpoint,
    limit,
    json,
    ...filter
  }: Filter & Json & { readonly endpoint?: string; readonly limit: number },
): Promise<void> {
  const { api } = await openApi(sources)
  const { items, isMore } =
    endpoint === undefined
      ? await listOfAll(api, limit, filter)
      : await listOf(api, endpoint, limit, filter)
  if (json) return printJson(items)
  printTable(
    ['Created', 'Id', 'State', 'Event', long('Answer')],
    items.map(({ id, createdAt, eventType, health, attempts }) => {
      const last = attempts.at(-1)
      const answer = last === undefined ? 'no attempt yet' : (last.statusCode ?? last.error)
      // Of a finished delivery the number of failed attempts says nothing more.
      const failed = health.state === 'retrying' ? health.failedAttempts : 0
      return [createdAt, id, stateCell(health.state, failed), eventType, String(answer)]
    }),
  )
  if (isMore) printMessage(`There are more than ${limit}: use --limit.`)
}

/** A tenant has few endpoints: the newest of each are the newest of all. */
async function listOfAll(api: GatehouseClient, limit: number, filter: Filter): Promise<Listed> {
  const lists: Listed[] = []
  for await (const { id } of api.list('/webhook-endpoints', {
    params: { query: { limit: 100 } },
  })) {
    lists.push(await listOf(api, id, limit, filter))
  }
  const all = lists
    .flatMap(({ items }) => items)
    .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
  const isMore = all.length > limit || lists.some((one) => one.isMore)
  return { items: all.slice(0, limit), isMore }
}

async function listOf(
  api: GatehouseClient,
  id: string,
  limit: number,
  filter: Filter,
): Promise<Listed> {
  const items: Delivery[] = []
  let isMore = false
  const query = { ...queryOf(filter), limit: Math.min(limit, 100) }
  const params = { path: { id }, query }
  for await (const page of api.pages('/webhook-endpoints/{id}/deliveries', { params })) {
    const left = limit - items.length
    items.push(...page.data.slice(0, left))
    isMore = page.data.length > left || page.nextCursor !== null
    if (items.length === limit) break
  }
  return { items, isMore }
}

function queryOf({ type, event, ...filter }: Filter) {
  return {
    ...filter,
    ...(type !== undefined && { eventType: type }),
    ...(event !== undefined && { eventId: event }),
  }
}

/** `gatehouse deliveries replay`: sends them again. */
export async function replay(
  sources: Sources,
  ids: readonly string[],
  { json }: Json,
): Promise<void> {
  const { api } = await openApi(sources)
  const replayed: Delivery[] = []
  for (const id of ids) {
    const at = { params: { path: { id } } }
    const delivery = unwrap(await api.POST('/deliveries/{id}/replay', at))
    replayed.push(delivery)
    if (!json) print(`${delivery.id}  ${delivery.status}`)
  }
  if (json) printJson(replayed)
}

const longestMs = 90 * 86_400_000 // src/webhooks/history/replays.ts
const pollMs = 1_000

/** `gatehouse deliveries replay --endpoint`: shows how many match; with `yes` sends them. */
export async function replayMatching(
  sources: Sources,
  { endpoint: id, yes, json, ...filter }: Matching & { readonly yes?: true },
): Promise<void> {
  const { api } = await openApi(sources)
  // The same range for the number and the replay.
  const to = filter.to ?? new Date().toISOString()
  const from = filter.from ?? new Date(Date.parse(to) - longestMs).toISOString()
  const query = { ...queryOf(filter), from, to }
  const path = { id }
  const { count, isPartial } = unwrap(
    await api.GET('/webhook-endpoints/{id}/deliveries/count', { params: { path, query } }),
  )
  const matches = count === 1 ? '1 delivery matches.' : `${count} deliveries match.`
  printMessage(isPartial ? `At least ${matches}` : matches)
  if (count === 0 && !isPartial) return
  if (!yes) {
    printMessage('Nothing was sent. To send them again, add --yes.')
    return
  }
  let replay: Replay = unwrap(
    await api.POST('/webhook-endpoints/{id}/replay', { params: { path }, body: query }),
  )
  printMessage(`Replay ${replay.id}`)
  const at = { params: { path: { id, replayId: replay.id } } }
  const show = createProgress(process.stderr)
  while (replay.finishedAt === null) {
    await pause(pollMs)
    replay = unwrap(await api.GET('/webhook-endpoints/{id}/replays/{replayId}', at))
    show({ label: 'deliveries', done: replay.done, total: replay.total })
  }
  if (json) return printJson(replay)
  print(`${replay.id}  ${progressText(replay)}`)
}

/** `gatehouse deliveries cancel`. */
export async function cancel(
  sources: Sources,
  replayId: string,
  { endpoint: id, json }: Json & { readonly endpoint: string },
): Promise<void> {
  const { api } = await openApi(sources)
  const at = { params: { path: { id, replayId } } }
  const replay = unwrap(await api.POST('/webhook-endpoints/{id}/replays/{replayId}/cancel', at))
  if (json) return printJson(replay)
  print(`${replay.id}  ${progressText(replay)}`)
}

function progressText({ done, total, cancelledAt }: Replay): string {
  const state = cancelledAt === null ? '' : 'cancelled: '
  return `${state}${done} of ${total} deliveries scheduled`
}
