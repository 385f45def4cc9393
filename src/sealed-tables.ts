import type { SealedTable } from '#src/db/key-rotation.ts'
import { sealedTokenTables } from '#src/identity/sealed-tokens.ts'
import { sealedSecretTable } from '#src/webhooks/endpoints/secrets.ts'

/** Everything that is kept under `ENCRYPTION_KEYS`: `gatehouse keys` and `doctor` look at these. */
export const sealedTables: readonly SealedTable[] = [...sealedTokenTables, sealedSecretTable]
