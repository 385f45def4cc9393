import access from './account/access.ts'
import account from './account/account.ts'
import commandLine from './account/command-line.ts'
import go from './account/go.ts'
import home from './account/home.ts'
import invitationLink from './account/invitation-link.ts'
import invitations from './account/invitations.ts'
import plan from './account/plan.ts'
import accountTokens from './account/tokens.ts'
import welcome from './account/welcome.ts'
import assets from './assets.ts'
import billingCustomers from './billing/customers.ts'
import billing from './billing/events.ts'
import invoices from './billing/invoices.ts'
import unlinkedCustomers from './billing/unlinked.ts'
import design from './design.ts'
import operations from './operations.ts'
import openPortal from './portal/open.ts'
import { appTokens, serviceTokens } from './program-tokens.ts'
import declared from './resources/rows.ts'
import audit from './tenant/audit.ts'
import teams from './tenant/teams.ts'
import tenant from './tenant/tenant.ts'
import deliveries from './webhooks/deliveries.ts'
import webhookEndpoint from './webhooks/endpoint.ts'
import endpointDeliveries from './webhooks/endpoint-deliveries.ts'
import webhooks from './webhooks/endpoints.ts'
import eventTypes from './webhooks/event-types.ts'
import events from './webhooks/events.ts'
import webhookReplays from './webhooks/replays.ts'

/** The HTML pages, one plugin each. The scope in src/app.ts decides which guards apply. */
export default {
  access,
  account,
  accountTokens,
  appTokens,
  assets,
  audit,
  billing,
  billingCustomers,
  commandLine,
  declared,
  deliveries,
  design,
  endpointDeliveries,
  events,
  eventTypes,
  go,
  home,
  invitationLink,
  invitations,
  invoices,
  openPortal,
  operations,
  plan,
  serviceTokens,
  teams,
  tenant,
  unlinkedCustomers,
  webhookEndpoint,
  webhookReplays,
  webhooks,
  welcome,
}
