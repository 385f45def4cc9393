import type { RouteRows } from '#test/access/matrix/route-row.ts'
import type { Description } from '#test/resources/description.ts'
import { document } from './document.ts'
import { order } from './order.ts'
import { post } from './post.ts'

/** Every resource of the shop a second time, from the specification. */
export const descriptions: readonly Description[] = [order, post, document]

const shippingAddress = {
  name: 'Ada',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

/** Who may call its further routes. */
export const routes: RouteRows = {
  'GET /app/orders/:id': { who: 'order:read', answer: 200, object: 'order' },
  'POST /app/orders/:id/address': {
    who: 'order:update',
    answer: 303,
    object: 'order',
    body: () => ({ ...shippingAddress, line2: '' }),
  },
  'GET /app/orders': { who: 'order:read', answer: 200 },
}
