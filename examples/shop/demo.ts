import type { DemoOfApp, DemoPerson } from 'gatehouse'
import { insertTeam, teams } from './teams.ts'

type Owner = Parameters<NonNullable<DemoOfApp['seed']>>[0]

/** The demo's rows: orders and posts of everybody, and documents in the folders of teams. */
export default {
  facts: 'Ada (Acme) owns orders 1 and 2. Orders 7 and 8 belong to Grace (Globex): Ada gets 404.',
  change: {
    method: 'PATCH',
    path: '/orders/1',
    body: {
      shippingAddress: {
        name: 'Ada Okafor',
        line1: '2 Quay',
        city: 'Porto',
        postalCode: '4000-001',
        country: 'PT',
      },
    },
  },
  async seed(owner, people, enter) {
    for (const member of people) {
      await enter(member.tenant.id, member.userId)
      await insertOrders(owner, member)
      await insertPost(owner, member)
    }
    for (const team of teams) {
      const inTeam = team.members.flatMap((one) => people.filter(({ subject }) => subject === one))
      const [first] = inTeam
      if (first === undefined) continue
      await enter(first.tenant.id, first.userId)
      await insertTeam(
        owner,
        team,
        first.tenant.id,
        inTeam.map(({ userId }) => userId),
      )
    }
  },
} satisfies DemoOfApp

const goods = [
  { sku: 'GATE-OAK-200', quantity: 1, unitPrice: 45_900 },
  { sku: 'HINGE-STEEL', quantity: 4, unitPrice: 1_250 },
]

async function insertOrders(owner: Owner, member: DemoPerson): Promise<void> {
  for (const lineItems of [goods, goods.slice(1)]) {
    const address = {
      name: member.name,
      line1: '1 Harbour Street',
      city: member.tenant.name === 'Acme' ? 'Lisbon' : 'Bergen',
      postalCode: '1100-012',
      country: member.tenant.name === 'Acme' ? 'PT' : 'NO',
    }
    await owner.query(
      `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
       VALUES ($1, $2, $3, $4, '4242')`,
      [member.tenant.id, member.userId, JSON.stringify(lineItems), JSON.stringify(address)],
    )
  }
}

async function insertPost(owner: Owner, member: DemoPerson): Promise<void> {
  if (member.role === 'viewer') return
  await owner.query(
    `INSERT INTO posts (tenant_id, author_id, department, title, body) VALUES ($1, $2, $3, $4, $5)`,
    [
      member.tenant.id,
      member.userId,
      member.department,
      `Hello from ${member.name}`,
      `The first post of ${member.name} at ${member.tenant.name}.`,
    ],
  )
}
