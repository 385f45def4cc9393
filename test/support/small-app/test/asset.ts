import type { Description } from '#test/resources/description.ts'

const price = { amount: 4_900, currency: 'EUR' }

/** What a tenant owns. */
export const asset: Description = {
  ...{ name: 'asset', path: '/assets', table: 'assets' },
  rules: {
    read: { reach: 'tenant', permission: 'task:read', token: 'asset:read' },
    create: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
    update: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
    delete: { reach: 'tenant', permission: 'task:close', token: 'task:close' },
  },
  row: ({ tenantId, userId }) => ({
    ...{ tenant_id: tenantId, author_id: userId, name: 'A van', notes: 'Blue', state: 'in-use' },
    ...{ seats: 3, is_insured: true, bought_on: '2026-02-28', seen_at: '2026-03-01T10:00:00Z' },
    ...{ weight: '1800.50', price: JSON.stringify(price), billed_in: 'EUR' },
    ...{ contact: 'ada@acme.example', manual: 'https://acme.example/van', tags: '["blue"]' },
  }),
  body: {
    ...{ name: 'A van', notes: 'Blue\nand old', state: 'in-use', seats: -3, isInsured: true },
    ...{ boughtOn: '2024-02-29', seenAt: '2026-03-01T12:00:00.1234+02:00', weight: '1800.5' },
    ...{ price, contact: 'ada@acme.example', manual: 'https://acme.example/van?a=b#c' },
    ...{ tags: ['blue', '漢字'], endsOn: '9999-12-31', height: '-12' },
    ...{ worth: { amount: 1, currency: 'JPY' } },
  },
  change: {
    ...{ boughtOn: '2026-03-01', seenAt: '2026-03-02T12:00:00.000Z', weight: '-0.01' },
    ...{ price: { amount: -1, currency: 'USD' }, billedIn: 'CHF', contact: 'bob@acme.example' },
    ...{ manual: 'http://acme.example', tags: [], endsOn: null, height: null, worth: null },
    ...{ keeper: 'eve@acme.example', marks: ['x'], site: 'https://acme.example/' },
  },
  computed: { load: '0.03' },
  answer: ({ tenantId, userId }, now) => ({
    ...{ tenantId, authorId: userId, name: 'A van', notes: 'Blue\nand old', state: 'in-use' },
    ...{ seats: -3, isInsured: true, boughtOn: '2024-02-29', seenAt: '2026-03-01T10:00:00.123Z' },
    ...{ weight: '1800.50', price, billedIn: 'EUR', contact: 'ada@acme.example' },
    ...{ manual: 'https://acme.example/van?a=b#c', tags: ['blue', '漢字'], endsOn: '9999-12-31' },
    ...{ leftAt: null, height: '-12', worth: { amount: 1, currency: 'JPY' }, keeper: null },
    ...{
      site: null,
      marks: null,
      appraisal: null,
      remarks: null,
      load: '-5401.50',
      createdAt: now,
      updatedAt: now,
    },
  }),
  guarded: ['appraisal', 'remarks'],
  events: { POST: 'asset.created', PATCH: 'asset.updated' },
  forms: {
    create: {
      ...{ name: 'A van', notes: 'Blue', state: 'in-use', seats: '3', isInsured: 'yes' },
      ...{ boughtOn: '2026-02-28', seenAt: '2026-03-01T10:00', weight: '1.5', price: '49.00 EUR' },
      ...{ contact: 'ada@acme.example', manual: 'https://acme.example', tags: 'blue\r\nold' },
      ...{ billedIn: '', endsOn: '', leftAt: '', height: '', worth: '', keeper: '', site: '' },
      marks: '',
    },
    change: {
      ...{ name: 'A car', notes: 'Red', state: 'sold', seats: '3', isInsured: 'no' },
      ...{ boughtOn: '2026-02-28', seenAt: '2026-03-01T10:00:00.000', weight: '1' },
      ...{ price: '49 JPY', contact: 'ada@acme.example', manual: 'https://acme.example' },
      ...{ tags: '', billedIn: 'EUR', endsOn: '2026-03-01', leftAt: '2026-03-01T10:00' },
      ...{ height: '1', worth: '1.000 TND', keeper: 'a@acme.example', marks: 'x' },
      site: 'https://acme.example',
    },
  },
}
