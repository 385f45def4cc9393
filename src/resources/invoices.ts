import { defineResource } from './kit/define.ts'
import { id } from './kit/fields/keys/id.ts'
import { tenant } from './kit/fields/keys/tenant.ts'
import { integer } from './kit/fields/numbers/integer.ts'
import { line } from './kit/fields/texts/line.ts'
import { created } from './kit/fields/times/timestamp.ts'
import type { Visible } from './kit/visible.ts'

/** Who sees an invoice: everybody in the tenant of a person who has paid; if the tenant itself has, who manages it. */
const payers: Visible<never> = {
  words: 'the role that manages the tenant, if the tenant itself has paid (`BILLING_CUSTOMER`)',
  ...{ fields: [], roles: [], plans: [], isForServices: true, readsNoTable: true },
  sql: ({ manages }) => `(NOT for_managers OR ${manages})`,
}

/** What a tenant has paid. The job of a charge creates them (src/billing/invoices.ts). */
export const invoices = defineResource('invoice', {
  plural: 'invoices',
  scope: 'tenant',
  forServices: true,
  fields: {
    id: id(),
    tenantId: tenant(),
    amount: integer('Minor units of the currency'),
    currency: line(32, 'ISO 4217, in small letters, as the billing provider has it'),
    digits: integer('After the decimal point: `amount` 4900 with 2 digits is 49.00'),
    status: line(
      32,
      '`paid`, `refunded` (the whole amount), `disputed`, or `lost` (a dispute that gave the money back)',
    ),
    amountRefunded: integer('Minor units of the currency'),
    createdAt: created(),
  },
  filters: ['currency'],
  visible: payers,
  actions: { read: { permission: null, token: 'invoice:read' } },
  events: {
    created: 'A charge was paid, and its invoice created',
    updated: 'A payment was refunded or disputed, or its dispute was decided',
  },
  example: { currency: 'eur', digits: 2, status: 'paid', amountRefunded: 0 },
  worker: 'SELECT, INSERT, UPDATE (status, amount_refunded)',
})
