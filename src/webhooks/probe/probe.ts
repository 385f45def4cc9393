import pLimit from 'p-limit'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { Database, Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { resultWithin } from '#src/runtime/timeout.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { type SendRequest, succeeded } from '#src/webhooks/client/sender.ts'
import { type AttemptDeps, openSecrets } from '#src/webhooks/delivery/attempt.ts'
import type { Target } from '#src/webhooks/delivery/claim.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import { awaitCall, type CallDeps, calledSeconds, requestCall } from './call.ts'
import { type CaseName, createRequests, type Expectation, probeCases } from './cases.ts'
import { diagnose, type Fault, faults, type Grade, gradeOf, type Result } from './diagnose.ts'

/** What a probe found out about the receiver of an endpoint. */
export type ProbeReport = {
  /** RFC 3339 in UTC. */
  startedAt: string
  grade: Grade
  /** The signature profile of the endpoint. */
  profile: SignatureProfile
  /** The profile with which the receiver accepts deliveries; null if it accepts none. */
  matchingProfile: SignatureProfile | null
  faults: Fault[]
  /** Every request that was made or, with `accepted: null`, could not be made in time. */
  cases: (Result & { name: CaseName; title: string; expected: Expectation })[]
}

/** `wait`: the latest probe is too recent. */
export type Probed = { report: ProbeReport } | { wait: { until: Date } }

/** Between two probes of an endpoint, in hours. */
export const probeEveryHours = 6
const everyMs = probeEveryHours * 3_600_000
const wholeProbeMs = calledSeconds * 1_000
const atOnce = 4
const profiles: readonly SignatureProfile[] = ['spec', 'standard', 'both']

type Deps = CallDeps & Pick<Actor, 'clientInfo'> & { clock: Clock }
type Caller = Entry<Pick<TenantPrincipal, 'userId' | 'tenantId'>>

/**
 * Lets a worker send correct and incorrect deliveries to the receiver of an endpoint, all inert, and says
 * what it does wrong. Every request goes through the same address guard as a delivery. Nothing is recorded but
 * the report. The right is checked before the first request and again when the report is stored.
 * @returns null if the endpoint is missing or another tenant's
 * @throws what `awaitCall` throws; the probe may be tried again at once
 */
export async function probeEndpoint(
  db: Database,
  entry: Caller,
  endpointId: string,
  deps: Deps,
): Promise<Probed | null> {
  const startedAt = deps.clock.now()
  const claimed = await db.write(entry, async (tx, { tenantId }) => {
    const claim = await claimProbe(tx, { tenantId, id: endpointId }, startedAt)
    if (claim === null || claim.wait !== undefined) return claim
    const job = { kind: 'probe', tenantId, endpointId, at: startedAt.getTime() } as const
    return { ...claim, call: await requestCall(tx, deps, job) }
  })
  if (claimed === null || claimed.wait !== undefined) return claimed
  const { call, probedAt } = claimed
  const report = await awaitCall<ProbeReport>(deps, call).catch(async (error) => {
    await db.write(entry, (tx, { tenantId }) =>
      tx.endpointProbe.updateMany({
        where: { tenantId, id: endpointId, startedAt },
        data: { startedAt: probedAt },
      }),
    )
    throw error
  })
  if (report === null) return null
  await db.write(entry, async (tx, { userId, tenantId }) => {
    await tx.endpointProbe.updateMany({
      where: { tenantId, id: endpointId },
      data: { report: report as Prisma.InputJsonObject },
    })
    const by = { userId, tenantId, clientInfo: deps.clientInfo }
    const reason = `grade-${report.grade}`
    await recordChange(tx, by, { action: 'endpoint-probe', reason, target: endpointId })
  })
  return { report }
}

/** The latest report of an endpoint; `report: null` without one. Null if the endpoint is missing. */
export async function findProbe(
  tx: Tx,
  { tenantId }: { tenantId: string },
  id: string,
): Promise<{ report: ProbeReport | null } | null> {
  const [row] = await tx.sql<{ report: ProbeReport | null }>`
    SELECT p.report
    FROM webhook_endpoints e LEFT JOIN endpoint_probes p ON p.tenant_id = e.tenant_id AND p.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${id}::uuid`
  return row ?? null
}

type Claim = { probedAt: Date | null; wait?: undefined } | { wait: { until: Date } }

/** Takes the turn for a probe, so that two at once do not both begin. */
async function claimProbe(
  tx: Tx,
  { tenantId, id }: { tenantId: string; id: string },
  now: Date,
): Promise<Claim | null> {
  const [endpoint] = await tx.sql<{ probedAt: Date | null }>`
    SELECT p.started_at AS "probedAt"
    FROM webhook_endpoints e LEFT JOIN endpoint_probes p ON p.tenant_id = e.tenant_id AND p.id = e.id
    WHERE e.tenant_id = ${tenantId}::uuid AND e.id = ${id}::uuid FOR KEY SHARE OF e`
  if (endpoint === undefined) return null
  const earliest = new Date(now.getTime() - everyMs)
  const begun = await tx.sql`
    INSERT INTO endpoint_probes AS p (tenant_id, id, started_at)
    VALUES (${tenantId}::uuid, ${id}::uuid, ${now})
    ON CONFLICT (tenant_id, id) DO UPDATE SET started_at = excluded.started_at
      WHERE p.started_at IS NULL OR p.started_at <= ${earliest}
    RETURNING id`
  if (begun.length === 1) return { probedAt: endpoint.probedAt }
  const latest = endpoint.probedAt ?? now
  return { wait: { until: new Date(latest.getTime() + everyMs) } }
}

/**
 * Makes the requests of a probe that was asked for at `at`, in ms since 1970; for workers.
 * @throws PostponedError
 */
export async function makeProbe(
  endpoint: Target,
  at: number,
  deps: AttemptDeps,
): Promise<ProbeReport> {
  const startedAt = new Date(at)
  const profile = endpoint.signature
  const [secret = ''] = openSecrets(deps.keys, endpoint, startedAt)
  const { id, tenantId, url } = endpoint
  const target = { id, tenantId, url, secret }
  const deadline = performance.now() + wholeProbeMs
  const make = async (request: SendRequest): Promise<Result> => {
    const left = deadline - performance.now()
    const result = left > 0 ? await resultWithin(left, deps.sender.send(request)) : null
    if (result === null) return { accepted: null, statusCode: null, error: null, durationMs: 0 }
    const { statusCode, error, durationMs } = result
    return { accepted: succeeded(result), statusCode, error, durationMs }
  }

  const results: Partial<Record<CaseName, Result>> = {}
  let matching: { profile: SignatureProfile; others: [string, SendRequest][] } | null = null
  for (const one of [profile, ...profiles.filter((other) => other !== profile)]) {
    const { correct, ...others } = createRequests(target, one, unixSeconds(deps.clock))
    const result = await make(correct)
    results.correct ??= result
    if (result.accepted) matching = { profile: one, others: Object.entries(others) }
    // Without a complete response the others would have none either.
    if (result.accepted || result.error !== null) break
  }
  const limit = pLimit(atOnce)
  await Promise.all(
    (matching?.others ?? []).map(async ([name, request]) => {
      results[name as CaseName] = await limit(() => make(request)).catch(notMade)
    }),
  )
  return toReport(startedAt, profile, matching?.profile ?? null, results)
}

/** A postponed request says nothing about the receiver. */
function notMade(error: unknown): Result {
  if (!(error instanceof PostponedError)) throw error
  return { accepted: null, statusCode: null, error: null, durationMs: 0 }
}

function toReport(
  startedAt: Date,
  profile: SignatureProfile,
  matchingProfile: SignatureProfile | null,
  results: Partial<Record<CaseName, Result>>,
): ProbeReport {
  const found = diagnose(results, profile, matchingProfile)
  const names = Object.keys(probeCases) as CaseName[]
  return {
    startedAt: startedAt.toISOString(),
    grade: gradeOf(found),
    profile,
    matchingProfile,
    faults: found.map((code) => ({ code, ...faults[code] })),
    cases: names.flatMap((name) => {
      const result = results[name]
      return result === undefined ? [] : [{ name, ...probeCases[name], ...result }]
    }),
  }
}
