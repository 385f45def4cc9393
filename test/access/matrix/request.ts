import * as shared from '#dev/testing/access/request.ts'
import { contract } from './contract.ts'

/** Sends the request of an entry as a caller. */
export const send = shared.send.bind(null, contract)

/** The request of an entry as a caller, for `inject`. */
export const requestOf = shared.requestOf.bind(null, contract)
