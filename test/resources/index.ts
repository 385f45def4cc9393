import type { Description } from './description.ts'
import { document } from './document.ts'
import { invoice } from './invoice.ts'
import { order } from './order.ts'
import { post } from './post.ts'

/** Every declared resource a second time, from its specification. */
export const descriptions: readonly Description[] = [order, post, invoice, document]
