import audit from './audit.ts'
import billingCustomers from './billing-customers.ts'
import billingEvents from './billing-events.ts'
import billingReconciliations from './billing-reconciliations.ts'
import billingReplays from './billing-replays.ts'
import deliveries from './deliveries.ts'
import documents from './documents.ts'
import endpointReplays from './endpoint-replays.ts'
import events from './events.ts'
import folders from './folders.ts'
import invitations from './invitations.ts'
import invoices from './invoices.ts'
import me from './me.ts'
import notifications from './notifications.ts'
import orders from './orders.ts'
import ownInvitations from './own-invitations.ts'
import posts from './posts.ts'
import serviceTokens from './service-tokens.ts'
import teamMembers from './team-members.ts'
import teams from './teams.ts'
import tenantDeletion from './tenant-deletion.ts'
import tenants from './tenants.ts'
import usage from './usage.ts'
import users from './users.ts'
import webhookEndpointActions from './webhook-endpoint-actions.ts'
import webhookEndpoints from './webhook-endpoints.ts'

/** The JSON API. Each is a plugin; src/app.ts registers it behind its guards. */
export default {
  audit,
  billingCustomers,
  billingEvents,
  billingReconciliations,
  billingReplays,
  deliveries,
  documents,
  endpointReplays,
  events,
  folders,
  invitations,
  invoices,
  me,
  notifications,
  orders,
  ownInvitations,
  posts,
  serviceTokens,
  teamMembers,
  teams,
  tenantDeletion,
  tenants,
  usage,
  users,
  webhookEndpointActions,
  webhookEndpoints,
}
