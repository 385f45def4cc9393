import type { SealedTable } from './db/key-rotation.ts'
import { sealedTokenTables } from './identity/sealed-tokens.ts'
import { sealedSecretTable } from './outbound/endpoint-secrets.ts'

/** Everything that is kept under `ENCRYPTION_KEYS`: `gatehouse keys` and `doctor` look at these. */
export const sealedTables: readonly SealedTable[] = [...sealedTokenTables, sealedSecretTable]
