import { accountKinds } from './account-kinds.ts'
import type { Kinds } from './kind.ts'
import { outboundKinds } from './outbound-kinds.ts'
import { resourceKinds } from './resource-kinds.ts'
import { serviceKinds } from './service-kinds.ts'

/** Every kind of object that a route names or lists. */
export const kinds: Kinds = {
  ...accountKinds,
  ...resourceKinds,
  ...outboundKinds,
  ...serviceKinds,
}
