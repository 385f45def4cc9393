import { documents } from './documents.ts'
import { invoices } from './invoices.ts'
import { distinctResources } from './kit/distinct.ts'
import { orders } from './orders.ts'
import { posts } from './posts.ts'

/** Every declared resource. A resource that is not in this list does not exist. */
export const resources = distinctResources([orders, posts, invoices, documents] as const)

export type ResourceName = (typeof resources)[number]['name']
