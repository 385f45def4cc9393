import type { App, Caller, Portal, Principal, Service } from '#src/access/caller.ts'
import { entitlementsOf } from '#src/access/entitlements.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce } from '#src/db/sql.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { keyOf, type LatestRows } from './latest-rows.ts'

/**
 * What a request came with: the SHA-256 of the session id in its cookie, of its API, service or app
 * token, or of the secret of its portal session. The database hashes it once more, so neither its tables nor its log contain a usable
 * credential.
 */
export type Credential = {
  readonly kind: 'session' | 'token' | 'service' | 'app' | 'portal'
  readonly hash: Uint8Array
  /** Of a browser that has not signed in. */
  readonly isAnonymous?: boolean
}

/** Whether it came as a bearer token, or as the cookie of a portal session, which is not signed either. Scopes without sign-in leave the credential undefined. */
export function isBearer(credential: Credential | null | undefined): boolean {
  return credential != null && credential.kind !== 'session'
}

type Rules = {
  /** A session that was not used for this long is over. */
  idleSeconds: number
  /** `provider:subject` of everyone who runs the service. */
  operators: ReadonlySet<string>
  /** The tenant that the request of an app names. */
  namedTenantId?: string | null
  /** For a page: called with what every page shows of a person. */
  onPerson?(person: Person): void
  /** Called when the last use that is recorded is more than a minute old. */
  onStale(credential: Credential): void
  /** Where the facts are kept that a write may decide on. */
  latest?: LatestRows
}

/** What every page shows of the person who is signed in. */
export type Person = {
  readonly name: string | null
  /** The tenants they are a member of, by name; the first `maxShownTenants` and one more. */
  readonly tenants: readonly OwnTenant[]
}

export type OwnTenant = { readonly id: string; readonly name: string; readonly role: string }

export const maxShownTenants = 20

/** Both functions return these; the rest depends on the kind. */
type PersonRow = {
  user_id: string | null
  email: string | null
  plan: string | null
  created_at: Date
  tenant_id: string | null
  role: string | null
  department: string | null
  stale: boolean
}
type SessionRow = PersonRow & {
  session_id: string
  authenticated_seconds_ago: number | null
  provider: string | null
  subject: string | null
}
type PageRow = { person: { name: string | null; tenants: readonly OwnTenant[] | null } }
type TokenRow = PersonRow & { token_id: string; permissions: string[] | null }
type AppRow = {
  app_token_id: string
  name: string
  permissions: string[]
  created_at: Date
  tenant_id: string | null
  stale: boolean
}
type ServiceRow = {
  service_id: string
  name: string
  permissions: string[]
  created_at: Date
  tenant_id: string
  stale: boolean
}

export type PortalRow = {
  session_id: string
  app_token_id: string
  name: string
  created_at: Date
  tenant_id: string
  tenant_name: string
}

/** How a kind of credential enters. */
type Kind<Row> = {
  statement(forWrite: boolean): Prisma.Sql
  toPrincipal(row: Row): Principal | null
  /** Enters for a write if the facts in the row are still the same; null for one without a tenant or a role in it. */
  statementAs(row: Row): Prisma.Sql | null
  /** The row as it would be for this request; itself unless given. */
  asked?(row: Row): Row
  entered?(row: Row): void
}

/**
 * Opens a transaction as the person, service or app of a credential. The facts are null when the credential
 * is not live, or belongs to an anonymous session of a pending sign-in; the scope is empty then.
 */
export function enterCredential(credential: Credential, rules: Rules): Entry<Principal | null> {
  if (credential.kind === 'service') return entryOf(credential, rules, serviceKind(credential))
  if (credential.kind === 'app') return entryOf(credential, rules, appKind(credential, rules))
  if (credential.kind === 'portal') return entryOf(credential, rules, portalKind(credential))
  if (credential.kind === 'token') return entryOf(credential, rules, tokenKind(credential))
  return entryOf(credential, rules, sessionKind(credential, rules))
}

function entryOf<Row extends { stale: boolean; tenant_id: string | null }>(
  credential: Credential,
  { onStale, latest }: Rules,
  { statement, toPrincipal, statementAs, asked = (row) => row, entered }: Kind<Row>,
): Entry<Principal | null> {
  // The rows of a credential are all of its kind.
  const latestRow = () => {
    const row = latest?.get(credential.hash) as Row | undefined
    return row && asked(row)
  }
  return {
    replacesScope: true,
    holder: () => latestRow()?.tenant_id ?? keyOf(credential.hash),
    statement,
    admit(rows) {
      const [row] = rows as Row[]
      latest?.set(credential.hash, row && factsOf(row))
      if (row === undefined) return null
      if (row.stale) onStale(credential)
      entered?.(row)
      return toPrincipal(row)
    },
    foreseen() {
      const row = latestRow()
      const facts = row === undefined ? null : toPrincipal(row)
      const as = row === undefined ? null : statementAs(row)
      if (facts === null || as === null) return null
      return {
        // Time since authentication changes by itself, so it is never foreseen.
        facts: { ...facts, authenticatedSecondsAgo: null },
        statement: as,
        entered([result]) {
          if (result !== undefined && Object(result).stale) onStale(credential)
        },
      }
    },
  }
}

/** A row without what a page shows and without the settings, which no decision needs and which can be large. */
function factsOf<Row extends object>(row: Row): object {
  if (!('person' in row || 'settings' in row)) return row
  const {
    person: _person,
    settings: _settings,
    ...facts
  } = row as Row & {
    person?: unknown
    settings?: unknown
  }
  return facts
}

const enterSession = composeOnce(
  (hash: Uint8Array, idleSeconds: number, forWrite: boolean) =>
    Prisma.sql`SELECT * FROM enter_session(${hash}, ${idleSeconds}, ${forWrite})`,
)
const enterToken = composeOnce(
  (hash: Uint8Array, forWrite: boolean) =>
    Prisma.sql`SELECT * FROM enter_token(${hash}, ${forWrite})`,
)
const enterService = composeOnce(
  (hash: Uint8Array, forWrite: boolean) =>
    Prisma.sql`SELECT * FROM enter_service(${hash}, ${forWrite})`,
)
const enterAppToken = composeOnce(
  (hash: Uint8Array, tenantId: string | null, forWrite: boolean) =>
    Prisma.sql`SELECT * FROM enter_app_token(${hash}, ${tenantId}::uuid, ${forWrite})`,
)

/** The same for a write on facts that an earlier transaction returned. */
const enterSessionAs = composeOnce(
  (
    hash: Uint8Array,
    idleSeconds: number,
    sessionId: string,
    userId: string | null,
    email: string | null,
    plan: string | null,
    tenantId: string,
    role: string,
    department: string | null,
    provider: string | null,
    subject: string | null,
  ) => Prisma.sql`
    SELECT enter_session_as(${hash}, ${idleSeconds}, ${sessionId}::uuid, ${userId}::bigint, ${email},
      ${plan}, ${tenantId}::uuid, ${role}, ${department}, ${provider}, ${subject}) AS stale`,
)

function serviceKind({ hash }: Credential): Kind<ServiceRow> {
  return {
    statement: (forWrite) => enterService(hash, forWrite),
    toPrincipal: toService,
    statementAs: ({ service_id, name, permissions, tenant_id }) => Prisma.sql`
      SELECT enter_service_as(${hash}, ${service_id}::uuid, ${name}, ${permissions}::text[],
        ${tenant_id}::uuid) AS stale`,
  }
}

/** The tenant is that of the request, whatever an earlier one named. */
function appKind({ hash }: Credential, { namedTenantId = null }: Rules): Kind<AppRow> {
  return {
    statement: (forWrite) => enterAppToken(hash, namedTenantId, forWrite),
    toPrincipal: toApp,
    asked: (row) => ({ ...row, tenant_id: namedTenantId }),
    statementAs({ app_token_id, name, permissions, tenant_id }) {
      if (tenant_id === null) return null
      return Prisma.sql`
        SELECT enter_app_token_as(${hash}, ${app_token_id}::uuid, ${name}, ${permissions}::text[],
          ${tenant_id}::uuid) AS stale`
    },
  }
}

/** Its last use is not recorded: it ends after an hour. */
function portalKind({ hash }: Credential): Kind<PortalRow & { stale: boolean }> {
  return {
    statement: (forWrite) =>
      Prisma.sql`SELECT *, false AS stale FROM enter_portal_session(${hash}, ${forWrite})`,
    toPrincipal: toPortal,
    statementAs: () => null,
  }
}

function tokenKind({ hash }: Credential): Kind<TokenRow> {
  return {
    statement: (forWrite) => enterToken(hash, forWrite),
    toPrincipal: toTokenCaller,
    statementAs({ token_id, permissions, user_id, email, plan, tenant_id, role, department }) {
      if (tenant_id === null || role === null) return null
      return Prisma.sql`
        SELECT enter_token_as(${hash}, ${token_id}::uuid, ${permissions}::text[], ${user_id}::bigint,
          ${email}, ${plan}, ${tenant_id}::uuid, ${role}, ${department}) AS stale`
    },
  }
}

function sessionKind({ hash }: Credential, rules: Rules): Kind<SessionRow & Partial<PageRow>> {
  const { idleSeconds, operators, onPerson } = rules
  return {
    statement(forWrite) {
      const isShown = onPerson !== undefined && !forWrite
      return (isShown ? enterSessionWithPerson : enterSession)(hash, idleSeconds, forWrite)
    },
    toPrincipal: (row) => toSessionCaller(row, operators),
    entered({ person }) {
      if (person !== undefined) onPerson?.({ ...person, tenants: person.tenants ?? [] })
    },
    statementAs({ session_id, user_id, email, plan, tenant_id, role, department, ...row }) {
      if (tenant_id === null || role === null) return null
      const { provider, subject } = row
      return enterSessionAs(
        ...([hash, idleSeconds, session_id, user_id, email, plan] as const),
        ...([tenant_id, role, department, provider, subject] as const),
      )
    },
  }
}

/**
 * The entry with what every page shows. The subqueries depend on the row of the function, so they run
 * once the scope is set, and row-level security shows them what belongs to this person.
 */
const enterSessionWithPerson = composeOnce(
  (hash: Uint8Array, idleSeconds: number, forWrite: boolean) => Prisma.sql`
    SELECT entered.*, json_build_object(
      'name', (SELECT u.name FROM users u WHERE u.id = entered.user_id),
      'tenants', (SELECT json_agg(o) FROM (
        SELECT t.id, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id
        WHERE m.user_id = entered.user_id ORDER BY t.name, t.id
        LIMIT ${Prisma.raw(String(maxShownTenants + 1))}) o)) AS person
    FROM enter_session(${hash}, ${idleSeconds}, ${forWrite}) AS entered`,
)

/** Changes a session's entry to return only whether the session exists, signed in or not. */
export function isLive(entry: Entry<unknown>): Entry<boolean> {
  const { foreseen: _, ...rest } = entry
  return { ...rest, admit: (rows) => rows.length > 0 }
}

function toService(row: ServiceRow): Service {
  return {
    ...program,
    serviceId: row.service_id,
    serviceName: row.name,
    tenantId: row.tenant_id,
    tokenPermissions: row.permissions,
    createdAt: row.created_at,
  }
}

function toApp(row: AppRow): App {
  return {
    ...program,
    isApp: true,
    serviceId: row.app_token_id,
    serviceName: row.name,
    tenantId: row.tenant_id,
    tokenPermissions: row.permissions,
    createdAt: row.created_at,
  }
}

export function toPortal(row: PortalRow): Portal {
  return {
    ...program,
    portalSessionId: row.session_id,
    serviceId: row.app_token_id,
    serviceName: row.name,
    tenantId: row.tenant_id,
    tenantName: row.tenant_name,
    tokenPermissions: [],
    createdAt: row.created_at,
  }
}

/** What no program has. */
const program = {
  userId: null,
  sessionId: null,
  tokenId: null,
  authenticatedSecondsAgo: null,
  email: null,
  plan: null,
  role: null,
  department: null,
  operator: false,
} as const

function toTokenCaller(row: TokenRow): Caller | null {
  const person = toPerson(row)
  if (person === null) return null
  return {
    ...person,
    sessionId: null,
    tokenId: row.token_id,
    tokenPermissions: row.permissions,
    authenticatedSecondsAgo: null,
    operator: false,
  }
}

function toSessionCaller(row: SessionRow, operators: ReadonlySet<string>): Caller | null {
  const person = toPerson(row)
  if (person === null) return null
  return {
    ...person,
    sessionId: row.session_id,
    tokenId: null,
    tokenPermissions: null,
    authenticatedSecondsAgo: row.authenticated_seconds_ago,
    operator: operators.has(`${row.provider}:${row.subject}`),
  }
}

function toPerson(row: PersonRow) {
  if (row.user_id === null) return null
  return {
    serviceId: null,
    serviceName: null,
    userId: Number(row.user_id),
    email: row.email,
    plan: row.plan,
    ...entitlementsOf(row.plan),
    createdAt: row.created_at,
    tenantId: row.tenant_id,
    role: row.role,
    department: row.department,
  }
}

const tokenTables: Partial<Record<Credential['kind'], string>> = {
  token: 'api_tokens',
  service: 'service_tokens',
  app: 'app_tokens',
}

/** Records that a credential is in use: at most once a minute, and without waiting for a lock. */
export async function recordUse(systemDb: Queryable, { kind, hash }: Credential): Promise<void> {
  const table = tokenTables[kind]
  if (kind === 'session') await systemDb.sql`SELECT touch_session(${hash})`
  else if (table !== undefined) await systemDb.sql`SELECT touch_token(${table}, ${hash})`
}
