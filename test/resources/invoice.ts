import type { Description } from './description.ts'

/** What a tenant has paid. Only the job of a charge creates one. */
export const invoice: Description = {
  ...{ name: 'invoice', path: '/invoices', table: 'invoices', services: true, specified: true },
  rules: { read: { reach: 'tenant', token: 'invoice:read' } },
  row: ({ tenantId }) => ({ tenant_id: tenantId, amount: 1, currency: 'eur', status: 'paid' }),
}
