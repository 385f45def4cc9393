import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { deleteTenant } from '#src/auth/erasure/delete-tenant.ts'
import { describeBlock, eraseAccount } from '#src/auth/erasure/erase.ts'
import type { AfterLeaving } from '#src/auth/members/leave.ts'
import { withoutLocks } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Deletes the account of the session, which ends with it.
     * @throws Problem `last-admin` with the tenants that would be left without an admin
     */
    deleteOwnAccount(): Promise<void>
    /**
     * Deletes the active tenant. The session moves to another tenant of the admin, or ends.
     * @param name the name of the tenant, as it was typed
     */
    deleteActiveTenant(name: string): Promise<AfterLeaving>
  }
}

/** The two deletions that can end a session, for the API and for the pages. */
export default fp(
  async function erasure(app) {
    app.decorateReply('deleteOwnAccount', deleteOwnAccount)
    app.decorateReply('deleteActiveTenant', deleteActiveTenant)
  },
  { name: 'erasure', fastify: '5.x', dependencies: ['database', 'queue', 'metrics', 'session'] },
)

async function deleteOwnAccount(this: FastifyReply): Promise<void> {
  const { sessionEntry, session, clientInfo, server } = this.request
  const outcome = await server.db.write(withoutLocks(sessionEntry), (tx) =>
    eraseAccount(tx, server.queue, session.sessionId, clientInfo),
  )
  if (outcome !== 'erased') throw new Problem('last-admin', { detail: describeBlock(outcome) })
  await endHere(this, 'account-deleted', { session: 'ended' })
}

async function deleteActiveTenant(this: FastifyReply, name: string): Promise<AfterLeaving> {
  const { tenantEntry, session, clientInfo, server } = this.request
  const after = await server.db.write(withoutLocks(tenantEntry), (tx) =>
    deleteTenant(tx, server.queue, session.sessionId, name, clientInfo),
  )
  await endHere(this, 'tenant-deleted', after)
  return after
}

async function endHere(
  reply: FastifyReply,
  reason: 'account-deleted' | 'tenant-deleted',
  after: AfterLeaving,
): Promise<void> {
  if (after.session === 'ended') reply.server.metrics.identity.sessionsEnded.inc({ reason })
  await reply.followSession(after)
}
