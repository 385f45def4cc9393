import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { sectionsOf } from '#src/resources/kit/derived.ts'
import { resources } from '#src/resources/running-app.ts'
import { isJsonObject } from '#src/runtime/json.ts'

/**
 * A row of a section without its secrets, under the names of its columns. `more` of the last row of a
 * page: others may follow.
 */
export type ExportRow = { key: string; item: unknown; more: boolean }

/** Reads one page of a section, in the order of its keys. @param tenantId null if it has none */
export type ReadExport = (
  section: string,
  tenantId: string | null,
  after: string | null,
) => Promise<readonly ExportRow[]>

const declared = sectionsOf(resources)

/**
 * Everything about a person, as the table `export_sections` describes it. `perTenant` is read
 * once for each tenant that the sections before it name.
 */
export const personSections = {
  once: [
    'profile',
    'identities',
    'providerGrants',
    'providerRevocations',
    'sessions',
    'pendingSignIns',
    'idempotencyKeys',
    'apiTokens',
    'serviceTokensCreated',
    'appTokensCreated',
    'memberships',
    'eventUsage',
    'invitationsReceived',
    'invitationsSent',
    ...declared.ofPerson,
    'auditLog',
  ],
  perTenant: [
    'tenants',
    ...declared.ofPersonInTenant,
    'teamMemberships',
    'invoices',
    // What happened.
    'events',
  ],
} as const

export const tenantSections = [
  'tenant',
  'users',
  'memberships',
  'invitations',
  'apiTokens',
  'serviceTokens',
  'serviceIdempotencyKeys',
  'portalSessions',
  ...declared.ofTenant,
  'teams',
  'teamMembers',
  'folders',
  'webhookEndpoints',
  'endpointStates',
  'endpointProbes',
  'events',
  'deliveries',
  'deliveryAttempts',
  'notifications',
  'endpointReplays',
  'auditLog',
] as const

export const exportPageSize = 500

/**
 * What is kept about a person as JSON, in pieces that together are one object: an array for each
 * section. Each page is read when the piece before it was taken, so memory holds one page.
 */
export async function* exportPerson(read: ReadExport, now: Date): AsyncGenerator<string> {
  const tenantIds = new Set<string>()
  yield `{"exportedAt":${JSON.stringify(now.toISOString())}`
  for (const section of personSections.once) {
    yield* writeSection(section, [null], read, tenantIds)
  }
  for (const section of personSections.perTenant) {
    yield* writeSection(section, [...tenantIds], read, tenantIds)
  }
  yield '}\n'
}

/** What is kept of a tenant as JSON, in the form of `exportPerson`. */
export async function* exportTenant(
  tenantId: string,
  read: ReadExport,
  now: Date,
): AsyncGenerator<string> {
  yield `{"exportedAt":${JSON.stringify(now.toISOString())}`
  for (const section of tenantSections) yield* writeSection(section, [tenantId], read, new Set())
  yield '}\n'
}

/** @param found gets the tenants that the rows name */
async function* writeSection(
  section: string,
  tenantIds: readonly (string | null)[],
  read: ReadExport,
  found: Set<string>,
): AsyncGenerator<string> {
  yield `,\n${JSON.stringify(section)}:[`
  let separator = ''
  for (const tenantId of tenantIds) {
    for (let after: string | null | undefined = null; after !== undefined; ) {
      const rows: readonly ExportRow[] = await read(section, tenantId, after)
      const items = rows.map(({ item }) => (isJsonObject(item) ? item : {}))
      for (const { tenant_id: id } of items) if (typeof id === 'string') found.add(id)
      const text = items.map((item) => JSON.stringify(camelCased(item))).join(',\n')
      if (text !== '') yield `${separator}${text}`
      if (text !== '') separator = ',\n'
      const last = rows.at(-1)
      after = last?.more ? last.key : undefined
    }
  }
  yield ']'
}

/** The columns of a row under the names that the API uses. */
function camelCased(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const rename = (name: string) => name.replace(/_(\w)/g, (_, first: string) => first.toUpperCase())
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [rename(name), value]))
}

/** One page about the person of the session that has opened the transaction. */
export function readOwnExport(
  tx: Tx,
  ...[section, tenantId, after]: Parameters<ReadExport>
): Promise<ExportRow[]> {
  return tx.sql<ExportRow>`
    SELECT key, item, more
    FROM export_own(${section}, ${tenantId}::uuid, ${after}, ${exportPageSize}::int)`
}

/** Reads the pages about any person or tenant, as the owner of the database. */
export function exportReader(
  systemDb: Queryable,
  subject: { kind: 'person'; userId: number } | { kind: 'tenant' },
): ReadExport {
  return async function readExport(section, tenantId, after) {
    const userId = subject.kind === 'person' ? subject.userId : null
    const rows = await systemDb.sql<ExportRow>`
      SELECT key, item, more FROM export_page(${subject.kind}, ${section}, ${userId}, ${tenantId},
        ${after}, ${exportPageSize})`
    return rows
  }
}
