import { TenantId } from '#src/http/fields.ts'
import { means } from '#src/http/schemas.ts'
import { field } from '../field.ts'

/**
 * The tenant of a row.
 * @param description of the filter by it
 */
export const tenant = (description = 'Of this tenant') =>
  field('uuid', TenantId, { filter: means(TenantId, description) })
