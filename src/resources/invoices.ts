import { defineResource } from './kit/define.ts'
import { created, id, integer, line, tenant } from './kit/fields.ts'

/** What a tenant has paid. The job of a charge creates them (src/domain/invoices.ts). */
export const invoices = defineResource('Invoice', {
  name: 'invoice',
  plural: 'invoices',
  scope: 'tenant',
  forServices: true,
  fields: {
    id: id(),
    tenantId: tenant(),
    amount: integer('Minor units of the currency'),
    currency: line(32),
    status: line(32),
    createdAt: created(),
  },
  filters: ['currency'],
  actions: { read: { permission: null, token: 'invoice:read' } },
  events: { created: 'A charge was paid, and its invoice created' },
  example: { status: 'paid' },
  worker: 'SELECT, INSERT',
})
