import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Caller } from '#src/access/caller.ts'
import type { Credential } from '#src/auth/sessions/enter.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'

/** An empty plugin with this name, to satisfy a dependency. */
export function neighbour(name: string) {
  return fp(async () => {}, { name })
}

/** A caller in a tenant, with the given members replaced. */
export function aCaller(facts: Partial<Caller> = {}): Caller {
  return {
    serviceId: null,
    serviceName: null,
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
    operator: false,
    features: [],
    limits: {},
    ...facts,
  }
}

/**
 * Replaces the session plugin: the header `x-caller` is the credential; `nobody` or no header is
 * none. A name with `token` in it is an API token.
 */
export function fakeSession() {
  return fp(
    async function session(app) {
      app.decorateRequest('enteredCaller', null)
      app.decorateRequest('credentialFault', null)
      app.decorateRequest('credential', { getter: credentialOf })
      app.decorateRequest('identify', (credential: Credential): Entry<Caller | null> => {
        const name = Buffer.from(credential.hash).toString()
        return {
          statement: () => Prisma.raw(name),
          admit: ([row]) => (row as Caller | undefined) ?? null,
        }
      })
    },
    { name: 'session' },
  )
}

function credentialOf(this: FastifyRequest): Credential | null {
  const name = this.headers['x-caller']
  if (name === undefined || name === 'nobody') return null
  const hash = Buffer.from(String(name))
  return { kind: String(name).includes('token') ? 'token' : 'session', hash }
}

/**
 * Replaces the database: it knows the facts of each credential of `fakeSession`; any other is not
 * live. The facts can be changed between two entries.
 * @param entered gets the access of every transaction that was begun
 */
export function fakeDatabase(callers: Record<string, Caller>, entered: string[] = []) {
  async function enter<Facts>(access: string, entry: Entry<Facts>): Promise<Facts> {
    entered.push(access)
    const caller = callers[entry.statement(access === 'write').text]
    return entry.admit(caller === undefined ? [] : [caller])
  }
  const db = {
    async read<Facts, T>(entry: Entry<Facts>, work?: (tx: never, facts: Facts) => Promise<T>) {
      if (work === undefined) return enter('enter', entry)
      return work({} as never, await enter('read', entry))
    },
    write: async <Facts, T>(entry: Entry<Facts>, work: (tx: never, facts: Facts) => Promise<T>) =>
      work({} as never, await enter('write', entry)),
  }
  return fp(async (app) => void app.decorate('db', db as never), { name: 'database' })
}
