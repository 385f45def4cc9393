import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Caller } from '#src/auth/sessions/caller.ts'

/** A plugin of this name that does nothing, for one that only has to be there. */
export function neighbour(name: string) {
  return fp(async () => {}, { name })
}

/** A caller in a tenant, with the given facts changed. */
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

/** The session plugin's place: the header `x-caller` names whose session it is. */
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
