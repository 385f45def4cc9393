import type { LightMyRequestResponse } from 'fastify'
import type { Entry } from './entries.ts'
import { isThere, reachOf } from './expected.ts'
import type { Placed } from './kind.ts'
import { type Scope, withScope } from './locks.ts'
import { type Contract, permissionFor } from './rules.ts'
import type { Caller, Running } from './world.ts'

const attempts = 5

/**
 * Sends the request of the entry as the caller. A 503 only means that the machine is busy, so the
 * request is sent again.
 */
export async function send(
  contract: Contract,
  { app }: Running,
  entry: Entry,
  caller: Caller,
  object: Placed | null,
  query = '',
): Promise<LightMyRequestResponse> {
  const request = await requestOf(contract, entry, caller, object, query)
  const ask = () =>
    withScope(scopeOf(contract, entry, caller, object), async () => app.inject(request))
  let answer = await ask()
  for (let sent = 1; answer.statusCode === 503 && sent < attempts; sent += 1) {
    if (entry.row.answer === 503) break
    answer = await ask()
  }
  return answer
}

/** The request of the entry as the caller, for `inject`. Its body is new each time. */
export async function requestOf(
  contract: Contract,
  { method, url, row }: Entry,
  caller: Caller,
  object: Placed | null,
  query = '',
) {
  const params = object?.params ?? {}
  const path = url.replace(/:(\w+)/g, (_all, name) => encodeURIComponent(params[name] ?? 'demo'))
  const payload = await row.body?.(params, caller)
  return {
    method: method as 'GET',
    url: path + query,
    headers: await caller.headersFor(
      isProgram(caller) ? permissionFor(contract, row.who) : contract.rules[row.who]?.token,
    ),
    ...(isSafe(method) ? {} : payloadOf(url, payload, caller)),
  }
}

function payloadOf(url: string, payload: object | undefined, { formFields }: Caller) {
  const fields = url.startsWith('/portal/') ? formFields : undefined
  if (payload === undefined && fields === undefined) return {}
  return { payload: { ...payload, ...fields } }
}

/** Its permissions are named as the rules are. */
function isProgram({ by }: Caller): boolean {
  return by === 'service' || by === 'app'
}

/**
 * What hides the object if the first lock does: the owner, the tenant or both, as in the rule of the
 * route. For a list those of a foreign tenant.
 */
function scopeOf(
  contract: Contract,
  { row }: Entry,
  caller: Caller,
  object: Placed | null,
): Scope | null {
  if (row.object === undefined && row.lists === undefined) return null
  if (object?.tenantIds.length === 0) return null
  const { userId, tenantId } = object === null ? caller.foreign : ownerOf(caller, object)
  switch (reachOf(contract, row)) {
    case 'owner':
    case 'member':
      return { userId }
    case 'chain':
      return { userId, tenantId }
    case 'tenant':
      return { tenantId }
    default:
      return null
  }
}

/** Of an object in several tenants the caller's, if they are in it. */
function ownerOf({ tenantId }: Caller, { tenantIds, ownerId }: Placed): Required<Scope> {
  const own = tenantIds.find((one) => one === tenantId)
  return { userId: ownerId, tenantId: own ?? tenantIds[0] ?? null }
}

export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** A response about an object has its id and no other. In a page it may be anywhere. */
export function isAbout(answer: LightMyRequestResponse, { params }: Placed): boolean {
  if (isPage(answer)) return Object.values(params).some((id) => mentions(answer.body, id))
  if (!String(answer.headers['content-type']).includes('json')) return true
  const { id } = answer.json()
  return id === undefined || Object.values(params).includes(String(id))
}

export function isPage({ headers }: LightMyRequestResponse): boolean {
  return String(headers['content-type']).startsWith('text/html')
}

/** Whether the text of a page contains this word. */
function mentions(page: string, word: string): boolean {
  const [, main = ''] = page.split('<main')
  return main.split(/[^\w-]+/).includes(word)
}

/**
 * A list has exactly the objects that the caller can reach, over all pages, and counts as many.
 * @param known every object of the kind that the test has created
 * @param isComplete false where own objects may be missing: the list is that of a foreign scope
 */
export async function listFault(
  contract: Contract,
  test: Running,
  entry: Entry,
  caller: Caller,
  known: readonly Placed[],
  isComplete: boolean,
): Promise<string | null> {
  const items: unknown[] = []
  let counted: number | undefined
  let query = `?limit=100${entry.row.counts ? '&count=true' : ''}`
  while (query !== '') {
    const answer = await send(contract, test, entry, caller, null, query)
    const { data, nextCursor, count } = answer.json()
    items.push(...data)
    if (count?.more === false) counted = count.rows
    const { cursor = 'cursor' } = entry.row
    query = nextCursor === null ? '' : `?limit=100&${cursor}=${nextCursor}`
  }
  const wrong = known.filter((object) => {
    const isListed = contains(items, object)
    const mustBe = isThere(contract, entry.row, caller, object)
    return isComplete ? isListed !== mustBe : isListed && !mustBe
  })
  if (wrong.length > 0) return `${wrong.length} objects are in the list or missing wrongly`
  const isCounted = counted === undefined || counted === items.length
  return isCounted ? null : `it counts ${counted} and lists ${items.length}`
}

function contains(items: readonly unknown[], { params }: Placed): boolean {
  return items.some((item) =>
    Object.entries(params).every(([name, value]) => String(Object(item)[name]) === value),
  )
}

/** A response without the parts that differ between requests. */
export function comparable(response: LightMyRequestResponse): unknown {
  const { date, 'x-request-id': id, ...headers } = response.headers
  return { status: response.statusCode, headers, body: response.body.replaceAll(String(id), 'id') }
}
