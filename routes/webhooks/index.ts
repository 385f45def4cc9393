import billing from './billing.ts'

/** Inbound webhooks. Each is a plugin; src/app.ts registers it behind its guards. */
export default {
  billing,
}
