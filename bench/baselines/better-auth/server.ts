import { fromNodeHeaders } from 'better-auth/node'
import Fastify from 'fastify'
import { auth, forUser } from './auth.ts'

/* Reads an own order with better-auth's session and Prisma's recipe. Prints its address. */

const app = Fastify()

app.get<{ Params: { id: string } }>('/orders/:id', async (request, reply) => {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (session === null) return reply.code(401).send({ error: 'not signed in' })
  const userId = session.user.id
  const order = await forUser(userId).order.findFirst({
    where: { id: Number(request.params.id), userId },
  })
  return order ?? reply.code(404).send({ error: 'not found' })
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
