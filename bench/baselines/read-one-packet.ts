import Fastify from 'fastify'
import { orders } from '#shop/resources/orders.ts'
import type { Caller, Principal } from '#src/access/caller.ts'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { openDatabase } from '#src/db/database.ts'
import { refine } from '#src/db/entry.ts'
import { actionsOf } from '#src/rows/actions.ts'

/*
 * Reads an own order exactly as Gatehouse does, with both locks and the sealed scope, but without its
 * hooks: session plugin, limits, metrics, headers, schemas. So it shows what the core costs and what
 * the hooks cost. Prints its address.
 */

const { DATABASE_URL = '', POOL_SIZE = '20' } = process.env
const db = openDatabase(DATABASE_URL, Number(POOL_SIZE))
const rules = { idleSeconds: 604_800, operators: new Set<string>(), onStale() {} }
const { find } = actionsOf(orders)
const app = Fastify()

app.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
  const [, cookieId = ''] = /(?:^|; )sid=([^.;]*)/.exec(request.headers.cookie ?? '') ?? []
  const credential = { kind: 'session', hash: sha256(cookieId) } as const
  const entry = refine<Principal | null, Caller>(enterCredential(credential, rules), (caller) => {
    if (caller === null || caller.serviceId !== null) {
      throw Object.assign(new Error('not signed in'), { statusCode: 401 })
    }
    return caller
  })
  const order = await db.read(entry, find(Number(request.params.id)))
  return order ?? reply.code(404).send({ error: 'not found' })
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
