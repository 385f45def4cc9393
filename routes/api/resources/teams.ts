import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { folderActions } from '#src/teams/folder-actions.ts'
import { teamActions, teamMemberActions } from '#src/teams/team-actions.ts'

const at = { entryOf: ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry }

/** The teams of a tenant, for its administrators. */
export const teams: FastifyPluginAsyncTypebox = async function teams(app) {
  app.api('GET /teams', teamActions.list, at)
  app.api('POST /teams', teamActions.create, at)
  app.api('GET /teams/:id', teamActions.get, at)
  app.api('PATCH /teams/:id', teamActions.update, at)
  app.api('DELETE /teams/:id', teamActions.remove, at)
}

/** The members of teams, for the administrators of a tenant. */
export const teamMembers: FastifyPluginAsyncTypebox = async function teamMembers(app) {
  app.api('GET /teams/:id/members', teamMemberActions.list, at)
  app.api('GET /teams/:id/members/:userId', teamMemberActions.get, at)
  app.api('PUT /teams/:id/members/:userId', teamMemberActions.add, at)
  app.api('DELETE /teams/:id/members/:userId', teamMemberActions.remove, at)
}

/** The folders of a tenant, for its administrators. */
export const folders: FastifyPluginAsyncTypebox = async function folders(app) {
  app.api('GET /folders', folderActions.list, at)
  app.api('POST /folders', folderActions.create, at)
  app.api('GET /folders/:id', folderActions.get, at)
  app.api('PATCH /folders/:id', folderActions.update, at)
  app.api('DELETE /folders/:id', folderActions.remove, at)
}
