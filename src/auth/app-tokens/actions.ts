import type { Caller } from '#src/access/caller.ts'
import { appPermissions } from '#src/access/policy.ts'
import { isRecordedOperator, operatorNotRecorded } from '../operators/operators.ts'
import { programTokenActions } from '../program-tokens/actions.ts'
import { programTokenSchemas } from '../program-tokens/schemas.ts'
import {
  appTokenList,
  changeAppToken,
  createAppToken,
  deleteAppToken,
  findAppToken,
  listAppTokens,
  lockAppToken,
  maxAppTokens,
  rotateAppToken,
} from './app-tokens.ts'

/** The tokens of the app, for operators. */
export const appTokenActions = programTokenActions<Caller>({
  title: 'AppToken',
  resource: 'app-token',
  tag: 'app',
  schemas: programTokenSchemas({
    title: 'AppToken',
    permissions: appPermissions,
    examples: [['event:publish']],
    permissionsText: 'What the app may do in every tenant; it may do nothing else.',
    createdByText:
      'The operator who created it; null from the command line, or after their erasure',
    secret: 'gtha_…',
  }),
  noun: 'an app token',
  holder: '',
  secret: 'gtha_…',
  purpose:
    'It is for the backend behind this program. It belongs to no tenant: each request names the tenant that it is about. Its permissions say what it may do, and it has its own rate limits.',
  most: `409 if there are ${maxAppTokens} app tokens.`,
  list: appTokenList,
  store: {
    async list(tx, _by, page) {
      if (!(await isRecordedOperator(tx))) throw operatorNotRecorded()
      return listAppTokens(tx, page)
    },
    find: (tx, _by, id) => findAppToken(tx, id),
    lock: (tx, _by, id) => lockAppToken(tx, id),
    create: createAppToken,
    change: changeAppToken,
    rotate: rotateAppToken,
    remove: deleteAppToken,
  },
})
