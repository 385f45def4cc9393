import billing from './billing.ts'

/** Events from outside. Each is a plugin; src/app.ts decides which guards stand before it. */
export default {
  billing,
}
