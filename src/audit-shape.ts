import Type from 'typebox'
import { Id, Nullable, PageOf, Time, Uuid } from '#src/http/schemas.ts'

/** One page of the audit log, as the person and the tenant's admin read it. */
export const AuditPage = PageOf(
  Type.Object({
    id: Id,
    at: Time,
    action: Type.String({ description: 'What was tried, such as `sign-in`' }),
    outcome: Type.String({ description: '`done`, `refused` or `unavailable`' }),
    reason: Nullable(Type.String({ description: 'Stable code: why, or how' })),
    provider: Nullable(Type.String()),
    target: Nullable(
      Type.String({
        description:
          'Id of the session, token, tenant, invitation, user, endpoint or delivery it is about',
      }),
    ),
    userId: Nullable(Id),
    tenantId: Nullable(Uuid),
    ip: Nullable(Type.String({ description: 'The network part of the address' })),
    userAgent: Nullable(Type.String()),
  }),
)
