import type { Database, Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/identity-plane.ts'
import { createInvoice } from '#src/invoices.ts'
import { type Customer, findCustomer } from './customer.ts'
import { type Effect, effectOf, PoisonEvent } from './effect.ts'
import { parseEvent } from './event.ts'

export type Applied = 'processed' | 'already-processed' | 'missing'

/**
 * Works one recorded event. Its effect and the mark `processed` commit together, so running it
 * again changes nothing.
 * @throws PoisonEvent when it can never work; anything else is worth another try
 */
export async function applyEvent(
  db: Database,
  plane: Queryable,
  eventId: string,
  now: Date,
): Promise<Applied> {
  const body = await findBody(db, eventId)
  if (body === null) return 'missing'
  const event = parseEvent(body)
  if (event === null) throw new PoisonEvent('the recorded bytes are no event')
  const effect = effectOf(event)
  const customer = effect.kind === 'none' ? null : await findCustomer(plane, effect.customer)
  if (effect.kind !== 'none' && customer === null) {
    throw new Error('no user has the billing customer of this event yet')
  }
  return db.write(customer ?? {}, async (tx) => {
    if (!(await markProcessed(tx, eventId, now))) return 'already-processed'
    if (customer !== null) await carryOut(tx, effect, customer, eventId)
    return 'processed'
  })
}

async function findBody(db: Database, eventId: string): Promise<Uint8Array | null> {
  const row = await db.read({}, (tx) =>
    tx.receivedEvent.findFirst({ where: { eventId }, select: { body: true } }),
  )
  return row?.body ?? null
}

/** Also the lock: of two workers with one event the second waits here and then sees it is done. */
async function markProcessed(tx: Tx, eventId: string, now: Date): Promise<boolean> {
  const { count } = await tx.receivedEvent.updateMany({
    where: { eventId, status: { not: 'processed' } },
    data: { status: 'processed', processedAt: now, lastError: null, attempts: { increment: 1 } },
  })
  return count === 1
}

async function carryOut(tx: Tx, effect: Effect, customer: Customer, eventId: string) {
  if (effect.kind === 'create-invoice') {
    const { amount, currency } = effect
    await createInvoice(tx, customer, { amount, currency, sourceEvent: eventId })
  }
  if (effect.kind === 'activate') {
    await tx.user.updateMany({ where: { id: customer.userId, plan: null }, data: { plan: 'pro' } })
  }
}

/** Notes why an attempt failed, for the operator; `dead` is never tried again by itself. */
export async function noteFailure(
  db: Database,
  eventId: string,
  status: 'failed' | 'dead',
  reason: string,
): Promise<void> {
  await db.write({}, (tx) =>
    tx.receivedEvent.updateMany({
      where: { eventId, status: { not: 'processed' } },
      data: { status, lastError: reason.slice(0, 500), attempts: { increment: 1 } },
    }),
  )
}
