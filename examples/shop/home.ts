import {
  actionsOf,
  type Caller,
  emptyState,
  type Home,
  type Html,
  html,
  isolated,
  type Tx,
  table,
} from 'gatehouse/routes'
import { documents } from './resources/documents.ts'
import { orders } from './resources/orders.ts'

const { list: listOrders } = actionsOf(orders)
const { list: listDocuments } = actionsOf(documents)

/** On the start page: the latest orders of the viewer, and documents of their teams. */
export default {
  welcome: 'Sign in to see your orders and your tenant.',
  async sections(tx: Tx, caller: Caller) {
    const [latest, shared] = await Promise.all([
      listOrders(tx, caller, { limit: 10, after: null }),
      caller.tenantId === null ? null : listDocuments(tx, caller, { limit: 5, after: null }),
    ])
    return [
      html`<section class="card" aria-labelledby="orders">
          <h2 id="orders">Your orders</h2>
          ${orderList(latest.data)}
        </section>`,
      html`<section class="card" aria-labelledby="documents">
          <h2 id="documents">Team documents</h2>
          ${documentList(shared?.data ?? [])}
        </section>`,
    ]
  },
  step: {
    text: 'Place an order with it',
    label: 'Read how',
    href: '/docs/api/orders#createOrder',
    async isDone(tx: Tx, { userId }: Caller) {
      const [row] = await tx.sql<{ is: boolean }>`
        SELECT EXISTS (SELECT 1 FROM orders WHERE user_id = ${userId}) AS "is"`
      return row?.is === true
    },
  },
} satisfies Home

const orderColumns = [
  { label: 'Order' },
  { label: 'Ships to', kind: 'wrap' },
  { label: 'Items', kind: 'number' },
] as const

type Listed = Awaited<ReturnType<typeof listOrders>>['data']

function orderList(latest: Listed): Html {
  if (latest.length === 0) {
    return emptyState(
      html`No orders yet. A program places one with <code>POST /orders</code>.`,
      html`<a href="/docs/api/orders#createOrder">Read how</a>`,
    )
  }
  const rows = latest.map(({ id, shippingAddress, lineItems }) => [
    html`<a href="/app/orders/${id}">Order ${id}</a>`,
    isolated(shippingAddress.city),
    lineItems.length,
  ])
  return html`<div class="compact">${table(orderColumns, rows)}</div>
          <p class="row"><a href="/app/orders">View all orders</a></p>`
}

function documentList(shared: readonly { id: number; title: string }[]): Html {
  if (shared.length === 0) {
    return emptyState('No documents yet. Documents in your teams’ folders appear here.')
  }
  const links = shared.map(
    ({ id, title }) =>
      html`<li class="wrap"><a href="/app/documents/${id}">${isolated(title)}</a></li>`,
  )
  return html`<ul class="plain">${links}</ul>
          <p class="row"><a href="/app/documents">View all documents</a></p>`
}
