import type { Member } from '#src/access/caller.ts'
import { servicePermissions } from '#src/access/policy.ts'
import { programTokenActions } from '../program-tokens/actions.ts'
import { programTokenSchemas } from '../program-tokens/schemas.ts'
import {
  changeServiceToken,
  createServiceToken,
  deleteServiceToken,
  findServiceToken,
  listServiceTokens,
  lockServiceToken,
  maxServiceTokens,
  rotateServiceToken,
  serviceTokenList,
} from './service-tokens.ts'

/** The service tokens of the tenant, for its admins. */
export const serviceTokenActions = programTokenActions<Member>({
  title: 'ServiceToken',
  resource: 'service-token',
  tag: 'service tokens',
  schemas: programTokenSchemas({
    title: 'ServiceToken',
    permissions: servicePermissions,
    permissionsText: 'What the service may do in your tenant; it may do nothing else.',
    createdByText: 'The user who created it, a member still or not; null after their erasure',
    secret: 'gths_…',
  }),
  noun: 'a service token',
  holder: ' your tenant',
  secret: 'gths_…',
  purpose:
    'It acts for the tenant and for no person: it may do what its permissions name, within the tenant, and has limits of its own. It ends when it expires or is deleted, or with the tenant, and not when you leave.',
  most: `409 if the tenant has ${maxServiceTokens} service tokens.`,
  list: serviceTokenList,
  store: {
    list: listServiceTokens,
    find: findServiceToken,
    lock: lockServiceToken,
    create: createServiceToken,
    change: changeServiceToken,
    rotate: rotateServiceToken,
    remove: deleteServiceToken,
  },
})
