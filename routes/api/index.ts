import ownInvitations from './account/invitations.ts'
import me from './account/me.ts'
import tenants from './account/tenants.ts'
import eventTypes from './app/event-types.ts'
import portalLinks from './app/portal-links.ts'
import publish from './app/publish.ts'
import billingCheckout from './billing/checkout.ts'
import {
  billingCustomers,
  billingEvents,
  billingReconciliations,
  billingReplays,
} from './billing/operators.ts'
import declared from './resources/rows.ts'
import { folders, teamMembers, teams } from './resources/teams.ts'
import tenantDeletion from './tenant/deletion.ts'
import users, { audit, invitations, tenantMembers, tenantName, usage } from './tenant/users.ts'
import { apiTokens, appTokens, serviceTokens } from './tokens.ts'
import { deliveries, endpointReplays, events, notifications } from './webhooks/deliveries.ts'
import webhookEndpoints, { tenantWebhookEndpoints } from './webhooks/endpoints.ts'

/** The JSON API. Each is a plugin; src/app.ts registers it behind its guards. */
export default {
  apiTokens,
  appTokens,
  audit,
  billingCheckout,
  billingCustomers,
  billingEvents,
  billingReconciliations,
  billingReplays,
  declared,
  deliveries,
  endpointReplays,
  eventTypes,
  events,
  folders,
  invitations,
  me,
  notifications,
  ownInvitations,
  portalLinks,
  publish,
  serviceTokens,
  teamMembers,
  teams,
  tenantDeletion,
  tenantMembers,
  tenantName,
  tenantWebhookEndpoints,
  tenants,
  usage,
  users,
  webhookEndpoints,
}
