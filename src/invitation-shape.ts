import Type from 'typebox'
import { Id, Nullable, Time, Uuid } from '#src/http/schemas.ts'

/** An invitation as those who manage the tenant's users see it. */
export const Invitation = Type.Object({
  id: Uuid,
  email: Type.String({ description: 'In lower case' }),
  role: Type.String(),
  department: Nullable(Type.String()),
  invitedBy: Nullable(Type.Integer({ ...Id, description: 'null once the inviting user is gone' })),
  createdAt: Time,
  expiresAt: Time,
  acceptedAt: Nullable(Time),
})
