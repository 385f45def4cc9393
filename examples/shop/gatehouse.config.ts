import { defineApp } from 'gatehouse'
import { documents } from './resources/documents.ts'
import { orders } from './resources/orders.ts'
import { posts } from './resources/posts.ts'

/** The resources of the specification as an app: what people order, write and share in teams. */
export default defineApp({
  name: 'shop',
  resources: [orders, posts, documents],
  routes: { people: [() => import('./pages/orders.ts')] },
  pages: [{ href: '/app/orders', label: 'Orders', icon: 'box', object: 'Order' }],
  home: () => import('./home.ts'),
  demo: () => import('./demo.ts'),
})
