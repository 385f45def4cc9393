import access from './access.ts'
import account from './account.ts'
import assets from './assets.ts'
import audit from './audit.ts'
import billing from './billing.ts'
import billingCustomers from './billing-customers.ts'
import deliveries from './deliveries.ts'
import design from './design.ts'
import documents from './documents.ts'
import events from './events.ts'
import home from './home.ts'
import invitations from './invitations.ts'
import invoices from './invoices.ts'
import operations from './operations.ts'
import orders from './orders.ts'
import posts from './posts.ts'
import serviceTokens from './service-tokens.ts'
import teams from './teams.ts'
import tenant from './tenant.ts'
import webhookEndpoint from './webhook-endpoint.ts'
import webhookReplays from './webhook-replays.ts'
import webhooks from './webhooks.ts'

/** The HTML pages, one plugin each. The scope in src/app.ts decides which guards apply. */
export default {
  access,
  account,
  assets,
  audit,
  billing,
  billingCustomers,
  deliveries,
  design,
  documents,
  events,
  home,
  invitations,
  invoices,
  operations,
  orders,
  posts,
  serviceTokens,
  teams,
  tenant,
  webhookEndpoint,
  webhookReplays,
  webhooks,
}
