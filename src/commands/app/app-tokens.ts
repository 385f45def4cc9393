import { noClientInfo } from '#src/audit/audit.ts'
import { appTokens, maxAppTokens } from '#src/auth/tokens/app-tokens.ts'
import {
  createToken,
  deleteToken,
  expireToken,
  listTokens,
  rotateToken,
} from '#src/auth/tokens/store.ts'
import type { Environment } from '#src/config/parse.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { endingLimits } from '#src/db/timeouts.ts'
import { Problem } from '#src/http/problems.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { withOwnerDatabase } from '../kit/databases.ts'
import { print, printJson } from '../kit/output.ts'
import { long, printTable } from '../kit/table.ts'

type Json = { readonly json?: true }

const owner = { userId: null, clientInfo: noClientInfo }
const listRemedy = '`gatehouse app-tokens list` shows the tokens.'
const dayMs = 86_400_000

/** `gatehouse app-tokens list`. */
export async function list(env: Environment, { json }: Json): Promise<void> {
  const page = { limit: maxAppTokens, after: null }
  const { data: tokens } = await change(env, (connection) =>
    listTokens(appTokens, connection, null, page),
  )
  if (json) return printJson(tokens)
  printTable(
    ['Id', long('Name'), 'Token', long('Permissions'), 'Expires', 'Last used'],
    tokens.map(({ id, name, hint, permissions, expiresAt, lastUsedAt }) => [
      ...[id, name, hint, permissions.join(','), expiresAt, lastUsedAt ?? 'never'],
    ]),
  )
}

/** `gatehouse app-tokens create`. */
export async function create(
  env: Environment,
  name: string,
  { permissions, days, json }: Json & { permissions: readonly string[]; days: number },
): Promise<void> {
  const now = new Date()
  const expiresAt = new Date(now.getTime() + days * dayMs)
  const facts = { name, permissions: [...new Set(permissions)], expiresAt }
  const created = await change(env, (connection) =>
    createToken(appTokens, connection, owner, facts, now),
  )
  if (json) return printJson(created)
  print(`${created.id}  ${created.name}  until ${created.expiresAt}`)
  print(`Token (not shown again): ${created.token}`)
}

/** `gatehouse app-tokens rotate`. */
export async function rotate(env: Environment, id: string, { json }: Json): Promise<void> {
  const rotated = await change(env, (connection) => rotateToken(appTokens, connection, owner, id))
  if (rotated === null) throw noToken()
  if (json) return printJson(rotated)
  print(`Token (not shown again): ${rotated.token}`)
}

/** `gatehouse app-tokens revoke`. */
export async function revoke(env: Environment, id: string, { json }: Json): Promise<void> {
  // In a transaction of its own: writes of the token without a gap could keep its deletion waiting.
  await change(env, (connection) => expireToken(appTokens, connection, null, id))
  const isDeleted = await change(env, (connection) => deleteToken(appTokens, connection, owner, id))
  if (!isDeleted) throw noToken()
  if (json) return printJson({ id, deleted: true })
  print(`${id} is revoked.`)
}

/**
 * Runs `work` as the owner of the database: row-level security lets only operators in a session manage
 * the tokens, and the command line has no session.
 * @throws OperatorError for a Problem, whose detail says what to do
 */
async function change<T>(
  env: Environment,
  work: (connection: Queryable) => Promise<T>,
): Promise<T> {
  try {
    return await withOwnerDatabase(env, (systemDb) => systemDb.transaction(endingLimits, work))
  } catch (error) {
    if (error instanceof Problem) throw new OperatorError(error.message, listRemedy)
    throw error
  }
}

function noToken(): OperatorError {
  return new OperatorError('There is no such app token.', listRemedy)
}
