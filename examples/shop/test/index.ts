import type { RouteRows } from '#dev/testing/access/route-row.ts'
import { like, type Settled } from '#test/access/matrix/settled.ts'
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

/** Contract 3, 6 and 8, and authorization.md, where they speak of orders, posts and documents. */
export const settled: Settled = {
  'an order of a colleague is a 404, for admins too': like({
    route: 'PATCH /orders/:id',
    actor: 'admin, at night',
    place: 'a colleague’s',
    expected: 404,
  }),
  'documents need the chain from everyone, admins included': like({
    route: 'GET /documents/:id',
    actor: 'admin, at night',
    place: 'a colleague’s',
    expected: 404,
  }),
  'then the attribute rule: 403': like({
    route: 'PATCH /posts/:id',
    actor: 'editor, at five',
    place: 'own',
    expected: 403,
  }),
  'a service does what its permissions name': like({
    route: 'POST /posts',
    actor: 'service that may do what is needed',
    expected: 201,
  }),
  'a service does nothing else': like({
    route: 'GET /posts',
    actor: 'service that may do all but what is needed',
    expected: 403,
  }),
  'what belongs to people is not for services': like({
    route: 'GET /orders',
    actor: 'service that may do everything',
    expected: 403,
  }),
  'a service sees no page': like({
    route: 'GET /app/posts',
    actor: 'service that may do everything',
    expected: 403,
  }),
  'another tenant’s object is a 404 for a service': like({
    route: 'GET /posts/:id',
    actor: 'service that may do everything',
    place: 'another tenant’s',
    expected: 404,
  }),
  'an app is no service': like({
    route: 'GET /posts',
    actor: 'app that may do everything',
    expected: 403,
  }),
  'an unsafe request from another site is 403': like({
    route: 'POST /orders',
    actor: 'admin, from a page of another site',
    expected: 403,
  }),
}
