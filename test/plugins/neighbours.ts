import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Caller } from '#src/auth/sessions/caller.ts'

/** An empty plugin with this name, to satisfy a dependency. */
export function neighbour(name: string) {
  return fp(async () => {}, { name })
}

/** A caller in a tenant, with the given members replaced. */
export function aCaller(facts: Partial<Caller> = {}): Caller {
  return {
    sessionId: '00000000-0000-4000-8000-000000000001',
    tokenId: null,
    tokenPermissions: null,
    authenticatedSecondsAgo: 0,
    userId: 1,
    email: 'ada@example.com',
    plan: null,
    createdAt: new Date(0),
    tenantId: '00000000-0000-4000-8000-00000000000a',
    role: 'viewer',
    department: null,
    ...facts,
  }
}

/** Replaces the session plugin: the header `x-caller` names the caller of the session. */
export function fakeSession(callers: Readonly<Record<string, Caller>>) {
  return fp(
    async function session(app) {
      app.decorateRequest('session', {
        getter(this: FastifyRequest) {
          return { caller: callers[String(this.headers['x-caller'])] ?? null } as never
        },
      })
    },
    { name: 'session' },
  )
}
