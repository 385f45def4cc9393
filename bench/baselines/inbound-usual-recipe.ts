import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import rawBody from 'fastify-raw-body'
import { PgBoss } from 'pg-boss'
import { PrismaClient } from '#src/db/generated/client.ts'
import { isSigned } from './signature.ts'

/*
 * The usual recipe: the raw body from a plugin, an interactive transaction with a row for deduplication
 * and one for the content, and a job sent inside it. Prints its address.
 */

const { DATABASE_URL = '', WEBHOOK_SECRET = '', POOL_SIZE = '10' } = process.env
const max = Number(POOL_SIZE)
const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: DATABASE_URL, max }),
  transactionOptions: { maxWait: 10_000, timeout: 10_000 },
})
const boss = new PgBoss({ connectionString: DATABASE_URL, migrate: false, supervise: false })
await boss.start()
const app = Fastify()
await app.register(rawBody, { global: false, encoding: false, runFirst: true })

app.post('/webhooks/billing', { config: { rawBody: true } }, async (request, reply) => {
  const body = request.rawBody
  const signature = request.headers['webhook-signature']
  if (!Buffer.isBuffer(body) || !isSigned(signature, body, WEBHOOK_SECRET)) {
    return reply.code(400).send('bad signature')
  }
  const event = JSON.parse(body.toString('utf8'))
  await prisma.$transaction(async (tx) => {
    await tx.processedEvent.create({ data: { eventId: event.id } })
    await tx.receivedEvent.create({
      data: {
        eventId: event.id,
        type: event.type,
        body: new Uint8Array(body),
        secretIndex: 0,
        status: 'recorded',
      },
    })
    const executeSql = async (text: string, values: unknown[] = []) => ({
      rows: await tx.$queryRawUnsafe<object[]>(text, ...values),
    })
    await boss.send('billing-event', { eventId: event.id }, { db: { executeSql } })
  })
  return reply.send('recorded')
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
