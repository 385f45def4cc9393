import { defineResource } from './kit/define.ts'
import { created, id, integer, line, tenant } from './kit/fields.ts'

/** What a tenant has paid. The job of a charge creates them (src/domain/invoices.ts). */
export const invoices = defineResource('invoice', {
  plural: 'invoices',
  scope: 'tenant',
  forServices: true,
  fields: {
    id: id(),
    tenantId: tenant(),
    amount: integer('Minor units of the currency'),
    currency: line(32),
    status: line(32, '`paid`, `refunded` (the whole amount) or `disputed`'),
    amountRefunded: integer('Minor units of the currency'),
    createdAt: created(),
  },
  filters: ['currency'],
  actions: { read: { permission: null, token: 'invoice:read' } },
  events: {
    created: 'A charge was paid, and its invoice created',
    updated: 'A payment was refunded or disputed, or its dispute was won',
  },
  example: { status: 'paid', amountRefunded: 0 },
  worker: 'SELECT, INSERT, UPDATE (status, amount_refunded)',
})
