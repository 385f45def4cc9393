import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { auditOutcomes } from '#src/audit/audit.ts'
import {
  countTenantAudit,
  listTenantAudit,
  type TenantAuditFilter,
  TenantAuditQuery,
  tenantAuditList,
  usersIn,
} from '#src/audit/list.ts'
import { findTargets } from '#src/audit/targets.ts'
import { findMemberNames } from '#src/auth/members/members.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { readFilters, type Used } from '#src/pages/kit/filters.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import { rangeOf, sinceParameter } from '#src/pages/kit/since.ts'
import { auditPage, csvHead, csvLine, jsonLine } from '#src/pages/tenant/audit-log.ts'
import { createKeyedLimit } from '#src/runtime/keyed-limit.ts'

const exportPageSize = 100
const maxExported = 100_000
const retryAfterSeconds = 5

const { action, userId, from, to, sort } = TenantAuditQuery.properties
const log = listPageOf(
  Type.Object({
    action,
    outcome: Type.Optional(Type.Enum([...auditOutcomes])),
    ...sinceParameter,
    user: userId,
    ...{ from, to, sort },
  }),
  '50',
)
const ExportQuery = Type.Object(
  { format: Type.Optional(Type.Enum(['csv', 'jsonl'])), ...log.filters },
  { additionalProperties: false },
)

const config = { access: { resource: 'audit', action: 'read' } } as const

type App = Parameters<FastifyPluginAsyncTypebox>[0]

/** The page of the tenant's audit log, and its downloads. */
const audit: FastifyPluginAsyncTypebox = async function audit(app) {
  app.get(
    '/app/audit',
    { config, schema: { hide: true, querystring: log.querystring } },
    async (request, reply) => {
      // Bound to the fields as they were sent: the time that `since` means moves on with every page.
      const { page, used } = log.read(request.query, tenantAuditList)
      const wanted = toFilter(used, app.clock.now())
      const read = await app.db.read(request.tenantEntry, async (tx, caller) => {
        const [listed, count] = await Promise.all([
          listTenantAudit(tx, caller, page, wanted),
          countTenantAudit(tx, caller, wanted),
        ])
        const [names, targets] = await Promise.all([
          findMemberNames(tx, caller, usersIn(listed.data)),
          findTargets(tx, caller, listed.data),
        ])
        return { listed, count, names, targets }
      })
      const { data, ...cursors } = read.listed
      const nameOf = (id: number) => read.names.get(id) ?? `user ${id}`
      const { viewer } = request
      const { targets, count } = read
      return reply.sendPage(
        auditPage({
          viewer,
          entries: data,
          cursors,
          count,
          query: log.query,
          used,
          targets,
          nameOf,
        }),
      )
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
      const filter = toFilter(readFilters(log.query, fields), now)
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

function toFilter(used: Used, now: Date): TenantAuditFilter {
  const { action, outcome, user } = used
  return { action, outcome, userId: user, ...rangeOf(used, now) }
}

export default audit
