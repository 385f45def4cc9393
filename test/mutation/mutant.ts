/** One removed rule, and the tests that should fail, fastest first. */
export type Mutant = {
  name: string
  /** A file of the tree and its changed text. */
  source?: { path: string; text: string }
  /** SQL that changes the mutant's own database. */
  sql?: string
  tests: readonly string[]
}

export const tests = {
  rules: 'test/access/rules.test.ts',
  policy: 'test/access/policy.test.ts',
  matrix: 'test/access/matrix.test.ts',
  sameIds: 'test/access/same-ids.test.ts',
  folders: 'test/resources/folders.test.ts',
  twins: 'test/webhooks/twin-tenants.test.ts',
  queryScope: 'test/access/query-scope-alone.test.ts',
  rowLevelSecurity: 'test/access/row-level-security-alone.test.ts',
  ownTenant: 'test/auth/members/own-tenant.test.ts',
  rawRows: 'test/schema/row-level-security.test.ts',
  chain: 'test/schema/document-chain.test.ts',
  views: 'test/schema/tenant-views.test.ts',
  authz: 'test/plugins/authz.test.ts',
  routeAccess: 'test/plugins/require-access.test.ts',
  csrf: 'test/plugins/csrf.test.ts',
  tenant: 'test/plugins/tenant-rls.test.ts',
  session: 'test/plugins/session.test.ts',
  revoked: 'test/access/revoked-while-writing.test.ts',
  noCredential: 'test/access/no-credential.test.ts',
  functions: 'test/db/credential-functions.test.ts',
  forged: 'test/db/forged-scope.test.ts',
  scope: 'test/db/credential-scope.test.ts',
  locks: 'test/db/credential-locks.test.ts',
  entryLocks: 'test/db/entry-locks.test.ts',
  signIn: 'test/db/credential-sign-in.test.ts',
  members: 'test/db/credential-members.test.ts',
  worker: 'test/db/credential-worker.test.ts',
  ownInvitations: 'test/routes/api/own-invitations.test.ts',
  verify: 'test/schema/verify.test.ts',
  tokens: 'test/routes/auth/token-use.test.ts',
  login: 'test/routes/auth/login.test.ts',
  leave: 'test/routes/api/leave.test.ts',
  newTokens: 'test/routes/auth/tokens.test.ts',
  requestValues: 'test/http/request-values.test.ts',
  databaseErrors: 'test/db/errors.test.ts',
  securityHeaders: 'test/plugins/security-headers.test.ts',
  unlink: 'test/routes/auth/unlink.test.ts',
  forms: 'test/pages/form-submission.test.ts',
  snapshot: 'test/db/scoped-pool.test.ts',
  groups: 'test/billing/groups.test.ts',
  process: 'test/billing/process.test.ts',
  consumer: 'test/queue/consumer.test.ts',
  takeover: 'test/queue/takeover.test.ts',
  health: 'test/webhooks/endpoints/health.test.ts',
  linking: 'test/auth/sign-in/account-linking.test.ts',
  addresses: 'test/routes/auth/addresses.test.ts',
  returnPath: 'test/routes/auth/return-path.test.ts',
  reauthenticate: 'test/routes/auth/reauthenticate.test.ts',
  operators: 'test/routes/auth/operators.test.ts',
  budget: 'test/runtime/byte-budget.test.ts',
  refusals: 'test/audit/refusals.test.ts',
} as const
