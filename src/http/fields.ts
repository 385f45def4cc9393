import { Id, means, Time, Uuid } from './schemas.ts'

/* Fields that many schemas have, each with its meaning. */

const naming = 'Names it in paths and in other objects; no other one of its kind ever gets it'

export const OwnId = means(Id, naming)
export const OwnUuid = means(Uuid, naming)

export const TenantId = means(Uuid, 'The tenant that it belongs to')
export const CreatedAt = means(Time, 'When it was created, in UTC')
export const UpdatedAt = means(Time, 'When it was last changed, in UTC; at first `createdAt`')
/** Of a token. */
export const LastUsedAt = means(Time, 'When a request last used it, to the minute; null before')
