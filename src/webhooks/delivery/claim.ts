import type { TenantScope } from '#src/access/caller.ts'
import { type Cause, readCause } from '#src/db/cause.ts'
import type { Database } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { enterTries, loneTurnColumns, type Try } from '#src/queue/job-table.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { thinBody } from '#src/webhooks/events/thin-body.ts'
import type { LatestState } from '#src/webhooks/health/state.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import type { EncryptedSecrets } from '#src/webhooks/signing/secrets.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'

/** A delivery with everything an attempt needs. */
export type DueDelivery = {
  id: string
  status: 'pending' | 'succeeded' | 'exhausted'
  series: number
  /** Attempts made in the series so far. */
  attempts: number
  createdAt: Date
  event: { id: string; body: string; cause: Cause | null; traceparent: string | null }
  endpoint: Endpoint
  /** A trial of an endpoint that fails: one attempt, whose result decides. */
  isTrial: boolean
}

type Endpoint = Target &
  LatestState & {
    /** Deliveries may have to be held. */
    isLimited: boolean
    /** All are held. */
    isPaused: boolean
  }

/** The URL of an attempt and the secrets that sign it. */
export type Target = EncryptedSecrets & {
  id: string
  tenantId: string
  url: string
  signature: SignatureProfile
}

/** A row of `due_attempts`, and its delivery. */
export type DueAttempt = {
  tenantId: string
  endpointId: string
  deliveryId: string
  series: number
  /** From 1 within the series. */
  number: number
  dueAt: Date
  /** A trial, or released from the hold of a rate; held again only if the endpoint is paused. */
  released: boolean
  /** Null if it is gone. */
  delivery: DueDelivery | null
}

/** A turn's request for due attempts. */
export type Claim = {
  turn: Try
  endpointId: string
  /** Attempts due before are left out; null for none. */
  since: Date | null
  /** `attemptKey` of the attempts that the turn has already. */
  known: readonly string[]
  /** At most this many. */
  room: number
}

/** Identifies an attempt among those of its endpoint. */
export function attemptKey({
  deliveryId,
  series,
  number,
}: Pick<DueAttempt, 'deliveryId' | 'series' | 'number'>): string {
  return `${deliveryId} ${series} ${number}`
}

/**
 * The due attempts of endpoints of one tenant, oldest first, for the turns that ask for them. Nothing
 * is written: an endpoint has one turn at a time.
 * @throws JobGone if none of the turns is in progress any more
 */
export async function claimDue(
  db: Database,
  { tenantId }: TenantScope,
  claims: readonly Claim[],
  now: Date,
): Promise<DueAttempt[][]> {
  const turns = claims.map(({ turn }) => turn)
  const asked = claims.map(({ endpointId, since, known, room }, n) => {
    return { n, endpoint_id: endpointId, since: since ?? '-infinity', known, room }
  })
  const source = Prisma.sql`
    json_to_recordset(${JSON.stringify(asked)}::text::json) AS claim (
      n int, endpoint_id uuid, since timestamptz, known text[], room int)`
  return db.read(
    enterTries(endpointTurnQueue, turns),
    oneStatement(dueOf(source, Prisma.sql`${tenantId}::uuid`, now), (rows: Row[]) =>
      toAttempts(claims, rows, tenantId),
    ),
  )
}

/** The due attempts that a fetch reads for a lone turn: if there are more, the turn reads them itself. */
export const loneRoom = 8

/** The due attempts of the lone turn that its transaction has fetched and entered (`notingLoneTurn`). */
export function dueOfLoneTurn(now: Date): Prisma.Sql {
  const source = Prisma.sql`(
    SELECT 0 AS n, lone.*, '-infinity'::timestamptz AS since, '{}'::text[] AS known,
      ${loneRoom}::int AS room FROM ${loneTurnColumns}) AS claim`
  return dueOf(source, Prisma.sql`claim.tenant_id`, now)
}

/** @param rows those of `dueOfLoneTurn` */
export function readLoneTurn(rows: object[], { tenantId, endpointId }: EndpointTurnJob) {
  return toAttempts([{ endpointId }], rows as Row[], tenantId)[0] ?? []
}

/** @param source the claims, as `claim` */
function dueOf(source: Prisma.Sql, tenantId: Prisma.Sql, now: Date): Prisma.Sql {
  return Prisma.sql`
      SELECT claim.n, a.delivery_id, a.series, a.number, a.due_at, a.released, d.status,
        d.series AS own_series, d.attempts, d.created_at, d.event_id, v.body, v.cause, v.traceparent,
        e.id AS endpoint_id, e.thin, e.rate_per_second IS NOT NULL AS is_limited, e.url, e.signature,
        s.paused = 'hold' AS is_paused,
        -- One that is paused and holds nothing gets no attempts, as if it were disabled.
        CASE WHEN s.paused = 'drop' THEN 'disabled' ELSE s.status END AS endpoint_status, s.last_success_at, s.retrying_since, s.failure_status,
        s.failure_cause, s.recovering_since,
        CASE WHEN s.paused IS NULL AND (s.status <> 'disabled' OR e.recover_when_disabled)
          THEN s.trial_delivery_id END
          AS trial_delivery_id,
        e.secret, e.previous_secret, e.previous_secret_expires_at
      FROM ${source}
      CROSS JOIN LATERAL (
        SELECT *, row_number() OVER (ORDER BY due_at) = 1 AS is_first FROM (
          SELECT * FROM due_attempts
          WHERE tenant_id = ${tenantId} AND endpoint_id = claim.endpoint_id
            AND due_at >= claim.since AND ${isDue(now)}
            AND concat_ws(' ', delivery_id, series, number) <> ALL (claim.known)
          ORDER BY due_at LIMIT claim.room) AS oldest
      ) AS a
      -- Each LIMIT forces a lookup by the whole key, even on a new table without statistics.
      LEFT JOIN LATERAL (
        SELECT * FROM deliveries
        WHERE tenant_id = ${tenantId} AND deliveries.id = a.delivery_id LIMIT 1
      ) AS d ON true
      LEFT JOIN LATERAL (
        SELECT body, cause, traceparent FROM outbound_events
        WHERE tenant_id = ${tenantId} AND outbound_events.id = d.event_id LIMIT 1
      ) AS v ON true
      -- The endpoint and its state are in the first row of each claim.
      LEFT JOIN LATERAL (
        SELECT * FROM webhook_endpoints
        WHERE tenant_id = ${tenantId} AND webhook_endpoints.id = claim.endpoint_id LIMIT 1
      ) AS e ON a.is_first
      LEFT JOIN LATERAL (
        SELECT * FROM endpoint_states
        WHERE tenant_id = ${tenantId} AND endpoint_states.id = claim.endpoint_id LIMIT 1
      ) AS s ON a.is_first
      ORDER BY claim.n, a.due_at`
}

/** By how much the clocks of processes may differ without a delay of first attempts. */
const clockDifferenceMs = 1_000

/** Until when a first attempt is due at once: its time may be from the clock of another process, which is ahead. */
export function firstsUntil(now: Date): Date {
  return new Date(now.getTime() + clockDifferenceMs)
}

/** A condition on `due_attempts`, as in the function `end_turns`. */
function isDue(now: Date): Prisma.Sql {
  return Prisma.sql`
    due_at <= ${firstsUntil(now)} AND (number = 1 AND NOT released OR due_at <= ${now})`
}

type Row = {
  n: number
  delivery_id: string
  series: number
  number: number
  due_at: Date
  released: boolean
  status: DueDelivery['status'] | null
  own_series: number
  attempts: number
  created_at: Date
  event_id: string
  body: string
  cause: string | null
  traceparent: string | null
} & (EndpointColumns | { endpoint_id: null })

type EndpointColumns = {
  endpoint_id: string
  thin: boolean
  is_limited: boolean
  is_paused: boolean | null
  trial_delivery_id: string | null
  recovering_since: Date | null
  url: string
  signature: SignatureProfile
  endpoint_status: LatestState['status']
  last_success_at: Date | null
  retrying_since: Date | null
  failure_status: number | null
  failure_cause: string | null
  secret: Uint8Array
  previous_secret: Uint8Array | null
  previous_secret_expires_at: Date | null
}

function toAttempts(
  claims: readonly Pick<Claim, 'endpointId'>[],
  rows: readonly Row[],
  tenantId: string,
): DueAttempt[][] {
  const found = claims.map((): DueAttempt[] => [])
  let first: EndpointColumns | null = null
  let endpoint: Endpoint | null = null
  let n = -1
  for (const row of rows) {
    if (row.n !== n) {
      n = row.n
      first = row.endpoint_id === null ? null : row
      endpoint = first && toEndpoint(first, tenantId)
    }
    const { delivery_id: deliveryId, series, number, due_at: dueAt, released } = row
    const delivery = first && endpoint && toDelivery(row, first, endpoint)
    const endpointId = claims[n]?.endpointId ?? ''
    found[n]?.push({ tenantId, endpointId, deliveryId, series, number, dueAt, released, delivery })
  }
  return found
}

function toEndpoint(row: EndpointColumns, tenantId: string): Endpoint {
  return {
    id: row.endpoint_id,
    tenantId,
    url: row.url,
    signature: row.signature,
    isLimited: row.is_limited || row.is_paused === true,
    isPaused: row.is_paused === true,
    status: row.endpoint_status,
    lastSuccessAt: row.last_success_at,
    retryingSince: row.retrying_since,
    failureStatus: row.failure_status,
    failureCause: row.failure_cause,
    recoveringSince: row.recovering_since,
    secret: row.secret,
    previousSecret: row.previous_secret,
    previousSecretExpiresAt: row.previous_secret_expires_at,
  }
}

function toDelivery(
  row: Row,
  { thin, trial_delivery_id: trial }: EndpointColumns,
  endpoint: Endpoint,
): DueDelivery | null {
  if (row.status === null) return null
  return {
    id: row.delivery_id,
    status: row.status,
    series: row.own_series,
    attempts: row.attempts,
    createdAt: row.created_at,
    // A replay of the trial is not released: it has the whole schedule.
    isTrial: trial === row.delivery_id && row.released,
    event: {
      id: row.event_id,
      body: thin ? thinBody(row.body) : row.body,
      cause: readCause(row.cause),
      traceparent: row.traceparent,
    },
    endpoint,
  }
}
