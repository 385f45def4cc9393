import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { auditOutcomes } from '#src/audit/audit.ts'
import {
  listTenantAudit,
  type TenantAuditFilter,
  tenantAuditList,
  usersIn,
} from '#src/audit/list.ts'
import { findTargets } from '#src/audit/targets.ts'
import { findMemberNames } from '#src/auth/members/members.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { CursorQuery } from '#src/http/schemas.ts'
import {
  type AuditFilters,
  auditPage,
  csvHead,
  csvLine,
  jsonLine,
} from '#src/pages/tenant/audit-log.ts'
import { createKeyedLimit } from '#src/runtime/keyed-limit.ts'

const pageSize = '50'
const exportPageSize = 100
const maxExported = 100_000
const retryAfterSeconds = 5

const sinceMs = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
} as const

const filterFields = {
  action: Type.Optional(Type.String({ pattern: '^([a-z][a-z-]{0,63}(:[a-z][a-z-]{0,63})?)?$' })),
  outcome: Type.Optional(Type.Enum(['', ...auditOutcomes])),
  since: Type.Optional(Type.Enum(['', 'hour', 'day', 'week', 'month'])),
  user: Type.Optional(Type.String({ pattern: '^([1-9][0-9]{0,15})?$' })),
}
const Query = Type.Object(
  { ...CursorQuery.properties, ...filterFields },
  { additionalProperties: false },
)
const ExportQuery = Type.Object(
  { format: Type.Optional(Type.Enum(['csv', 'jsonl'])), ...filterFields },
  { additionalProperties: false },
)

const config = { access: { resource: 'audit', action: 'read' } } as const

type App = Parameters<FastifyPluginAsyncTypebox>[0]

/** The page of the tenant's audit log, and its downloads. */
const audit: FastifyPluginAsyncTypebox = async function audit(app) {
  app.get(
    '/app/audit',
    { config, schema: { hide: true, querystring: Query } },
    async (request, reply) => {
      const { cursor, ...fields } = request.query
      // Bound to the fields as they were sent: the time that `since` means moves on with every page.
      const { page } = readList(
        { limit: pageSize, ...(cursor !== undefined && { cursor }), ...given(fields) },
        tenantAuditList,
      )
      const wanted = toFilter(fields, app.clock.now())
      const read = await app.db.read(request.tenantEntry, async (tx, caller) => {
        const listed = await listTenantAudit(tx, caller, page, wanted)
        const [names, targets] = await Promise.all([
          findMemberNames(tx, caller, usersIn(listed.data)),
          findTargets(tx, caller, listed.data),
        ])
        return { listed, names, targets }
      })
      const { data, ...cursors } = read.listed
      const filter: AuditFilters = { action: '', outcome: '', since: '', user: '', ...fields }
      const nameOf = (id: number) => read.names.get(id) ?? `user ${id}`
      const { viewer } = request
      const { targets } = read
      return reply.sendPage(auditPage({ viewer, entries: data, cursors, filter, targets, nameOf }))
    },
  )
  addExport(app)
}

/** Sends the newest entries, page by page: each is a transaction of its own. */
function addExport(app: App): void {
  const exporting = createKeyedLimit(1)
  app.get(
    '/app/audit/export',
    { config, schema: { hide: true, querystring: ExportQuery } },
    async (request, reply) => {
      const { format = 'csv', ...fields } = request.query
      const now = app.clock.now()
      const { db } = app
      const filter = toFilter(fields, now)
      const line = format === 'csv' ? csvLine : jsonLine
      await request.enter()
      const person = request.method === 'HEAD' ? [] : [String(request.caller.userId)]
      if (exporting.enter(person) !== null) {
        const detail = 'Another download of the audit log of yours is in progress.'
        throw new Problem('too-many-requests', { detail, retryAfterSeconds })
      }
      const leave = () => exporting.leave(person)
      // Before the first byte, so that a refusal is still an answer of its own.
      const first = await db
        .read(request.tenantEntry, (tx, caller) =>
          listTenantAudit(tx, caller, { limit: exportPageSize, after: null }, filter),
        )
        .catch((error) => {
          leave()
          throw error
        })
      async function* lines() {
        if (format === 'csv') yield csvHead
        let { data, nextCursor } = first
        for (let sent = data.length; ; sent += data.length) {
          yield data.map(line).join('')
          if (nextCursor === null || sent >= maxExported) return
          const { page } = readList(
            { limit: String(exportPageSize), cursor: nextCursor },
            tenantAuditList,
          )
          const next = await db.read(request.tenantEntry, (tx, caller) =>
            listTenantAudit(tx, caller, page, filter),
          )
          data = next.data
          nextCursor = next.nextCursor
        }
      }
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8'
      const day = now.toISOString().slice(0, 10)
      reply
        .type(type)
        .header('content-disposition', `attachment; filename="audit-${day}.${format}"`)
      // Fastify would read a stream to its end, only to leave it out.
      if (request.method === 'HEAD') return reply.send('')
      return reply.send(Readable.from(lines()).once('close', leave))
    },
  )
}

type Fields = {
  action?: string
  outcome?: string
  since?: '' | keyof typeof sinceMs
  user?: string
}

/** Only the fields that filter. */
function given(fields: Fields): Partial<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value))
}

function toFilter({ action, outcome, since, user }: Fields, now: Date): TenantAuditFilter {
  return {
    ...(action && { action }),
    ...(outcome && { outcome }),
    ...(user && { userId: user }),
    ...(since && { from: new Date(now.getTime() - sinceMs[since]).toISOString() }),
  }
}

export default audit
