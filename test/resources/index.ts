import { descriptions as ofApp } from '#shop/test/index.ts'
import type { Description } from './description.ts'
import { invoice } from './invoice.ts'

/** Every declared resource a second time, from its specification. */
export const descriptions: readonly Description[] = [...ofApp, invoice]
