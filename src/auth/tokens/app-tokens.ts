import type { ClientInfo } from '#src/audit/audit.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { isRecordedOperator, operatorNotRecorded } from '../operators/operators.ts'
import { type ProgramTokens, tokenListForms } from './store.ts'

/** An operator in a session, or without a user: the owner of the database on the command line. */
type Operator = { readonly userId: number | null; readonly clientInfo: ClientInfo }

/** App tokens that an installation can have, including expired ones. */
export const maxAppTokens = 50

/** The tokens of the app, which belong to no tenant: operators reach them all. */
export const appTokens: ProgramTokens<unknown, Operator> = {
  prefix: 'app',
  name: 'app-token',
  list: { name: 'app-tokens', forms: tokenListForms },
  table: Prisma.sql`app_tokens`,
  columns: Prisma.sql`
    permissions, created_by AS "createdBy", secret_rotated_at AS "secretRotatedAt", NULL AS "tenantId"`,
  within: () => Prisma.sql`true`,
  max: maxAppTokens,
  lock: 'app-tokens',
  lockKey: () => [],
  full: `There are ${maxAppTokens} app tokens`,
  more: Prisma.sql`created_by`,
  valuesOf: ({ userId }) => Prisma.sql`${userId}`,
  // Links and sessions that ended with the permission, or with the token's time, stay ended when it returns.
  alsoSets: (permissions) => Prisma.sql`,
    portals_ended_at = CASE
      WHEN expires_at <= now() OR ${permissions !== null && !permissions.includes('portal-link:create')}
      THEN clock_timestamp() ELSE portals_ended_at END`,
  async admit(tx, { userId }) {
    if (userId !== null && !(await isRecordedOperator(tx))) throw operatorNotRecorded()
  },
}
