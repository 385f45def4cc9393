import * as shared from '#dev/testing/access/expected.ts'
import { contract } from './contract.ts'

/** The status that the contract requires of a route, for a caller and an object. */
export const expectedStatus = shared.expectedStatus.bind(null, contract)

/** The scope of the rule, or of the route if no rule has one. */
export const reachOf = shared.reachOf.bind(null, contract)
