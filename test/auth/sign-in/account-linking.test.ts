import fc from 'fast-check'
import t from 'tap'
import {
  authenticationToleranceSeconds,
  decideAdmission,
  decideIdentity,
  type ExistingUsers,
  type IdentityDecision,
  type Intent,
  trustsAddress,
  type VerifiedIdentity,
} from '#src/auth/sign-in/account-linking.ts'

const startedAt = 1_000_000
const isTimeKnown = true
const identity: VerifiedIdentity = {
  provider: 'demo',
  issuer: 'https://op.example',
  subject: 'subject-1',
  email: 'ada@example.com',
  emailTrusted: true,
  name: null,
  locale: null,
  authenticatedAt: startedAt,
}
const [me, other] = [1, 2]
const nobody = {
  identityUserId: null,
  addressUserId: null,
  addressUserOperates: false,
  addressIsCurrent: false,
}

t.test('a new account is admitted by SIGN_UP, an operator always', async (t) => {
  const create: IdentityDecision = { kind: 'create' }
  for (const emailTrusted of [true, false]) {
    for (const invited of [true, false]) {
      for (const hasLink of [true, false]) {
        const facts = { invited, hasLink }
        const admit = (
          signUp: 'open' | 'invited' | 'closed',
          isOperator = false,
          decision: IdentityDecision = create,
        ) => decideAdmission({ emailTrusted }, decision, facts, { signUp, isOperator })
        const isInvited = invited && (emailTrusted || hasLink)
        const name = `trusted ${emailTrusted}, invited ${invited}, link ${hasLink}`
        t.equal(admit('open'), null, name)
        t.equal(admit('closed'), 'sign-up-closed', name)
        t.equal(admit('invited'), isInvited ? null : 'not-invited', name)
        for (const signUp of ['invited', 'closed'] as const) {
          t.equal(admit(signUp, true), null, 'an operator')
          t.equal(admit(signUp, false, { kind: 'sign-in', userId: me }), null, 'an account')
        }
      }
    }
  }
})

t.test('a sign-in, for every combination of identity and existing users', async (t) => {
  for (const email of [null, 'ada@example.com']) {
    for (const emailTrusted of [true, false]) {
      for (const addressUserId of email === null ? [null] : [null, me, other]) {
        for (const identityUserId of [null, me, other]) {
          for (const [addressUserOperates, addressIsCurrent] of holders(addressUserId)) {
            const decision = decideIdentity(
              { ...identity, email, emailTrusted },
              { kind: 'sign-in' },
              known({ identityUserId, addressUserId, addressUserOperates, addressIsCurrent }),
            )
            const name = `${email}, trusted ${emailTrusted}, verified by ${addressUserId}, an operator ${addressUserOperates}, current ${addressIsCurrent}, held by ${identityUserId}`
            const links = emailTrusted && !addressUserOperates && addressIsCurrent
            t.same(decision, expectedSignIn(identityUserId, links, addressUserId), name)
          }
        }
      }
    }
  }
})

/** Whether the user who has verified the address operates, and whether an identity of theirs still has it. */
function holders(addressUserId: number | null): readonly (readonly [boolean, boolean])[] {
  if (addressUserId === null) return [[false, false]]
  return [false, true].flatMap((operates) =>
    [false, true].map((current) => [operates, current] as const),
  )
}

/** With the issuer that the identity of these tests has. */
function known(users: Omit<ExistingUsers, 'identityIssuer'>): ExistingUsers {
  return { ...users, identityIssuer: users.identityUserId === null ? null : identity.issuer }
}

t.test('the same sub from another issuer is another person, whatever was asked', async (t) => {
  const rows: [string, string, boolean][] = [
    ['https://op.example.com', 'https://op.example.com', true],
    ['https://op.example.com', 'https://op.example.com/', false],
    ['https://op.example.com', 'https://other.example.com', false],
    ['https://op.example.com', 'http://localhost:3001', false],
    ['http://localhost:3001', 'http://localhost:3002', true],
    ['http://127.0.0.1:3001/', 'http://[::1]:3002', true],
    ['http://localhost:3001', 'http://localhost:3001@op.example.com', false],
    ['http://localhost:3001/realms/a', 'http://localhost:3001/realms/b', false],
    ['http://localhost/realms/a', 'http://127.0.0.1:3001/realms/a', true],
    ['https://localhost:3001', 'https://localhost:3002', false],
    ['not a URL', 'not another', false],
  ]
  const started = { userId: me, sessionUserId: me, startedAt, isTimeKnown }
  for (const [identityIssuer, issuer, isSame] of rows) {
    for (const kind of ['sign-in', 'link', 'reauthenticate'] as const) {
      const intent: Intent = kind === 'sign-in' ? { kind } : { kind, ...started }
      const existing = { ...known({ ...nobody, identityUserId: me }), identityIssuer }
      const decision = decideIdentity({ ...identity, issuer }, intent, existing)
      const name = `${kind} from ${issuer} after ${identityIssuer}`
      t.equal(decision.kind === 'refuse' && decision.reason === 'issuer-changed', !isSame, name)
    }
  }
})

/** The sign-in rules in the order of the design page, written independently of the code. */
function expectedSignIn(
  identityUserId: number | null,
  links: boolean,
  addressUserId: number | null,
): IdentityDecision {
  if (identityUserId !== null) return { kind: 'sign-in', userId: identityUserId }
  if (addressUserId !== null && links) return { kind: 'link', userId: addressUserId }
  if (addressUserId !== null) return { kind: 'refuse', reason: 'email-known' }
  return { kind: 'create' }
}

t.test('an explicit link, for every combination', async (t) => {
  const refuse = (reason: string) => ({ kind: 'refuse', reason })
  const table: [number | null, number | null, unknown][] = [
    [me, null, { kind: 'link-own', userId: me, known: false }],
    [me, me, { kind: 'link-own', userId: me, known: true }],
    [me, other, refuse('identity-of-another')],
    [null, null, refuse('session-changed')],
    [null, me, refuse('session-changed')],
    [null, other, refuse('session-changed')],
    [other, null, refuse('session-changed')],
    [other, me, refuse('session-changed')],
    [other, other, refuse('session-changed')],
  ]
  for (const [sessionUserId, identityUserId, expected] of table) {
    for (const emailTrusted of [true, false]) {
      const intent = { kind: 'link', userId: me, sessionUserId, startedAt, isTimeKnown } as const
      // The holder of the address does not matter: a link depends on the key only.
      const existing = known({
        ...{ identityUserId, addressUserId: other },
        ...{ addressUserOperates: true, addressIsCurrent: false },
      })
      const decision = decideIdentity({ ...identity, emailTrusted }, intent, existing)
      t.same(decision, expected, `session of ${sessionUserId}, identity of ${identityUserId}`)
    }
  }
})

t.test('a re-authentication, for every combination', async (t) => {
  const earliest = startedAt - authenticationToleranceSeconds
  const times: [number | null, boolean][] = [
    [null, false],
    [0, false],
    [earliest - 1, false],
    [earliest, true],
    [earliest + 1, true],
    [startedAt, true],
  ]
  for (const sessionUserId of [me, other, null]) {
    for (const identityUserId of [me, other, null]) {
      for (const [authenticatedAt, fresh] of times) {
        const intent = { kind: 'reauthenticate', userId: me, sessionUserId, startedAt } as const
        const existing = known({
          ...{ identityUserId, addressUserId: me },
          ...{ addressUserOperates: false, addressIsCurrent: true },
        })
        const decide = (isTimeKnown: boolean) =>
          decideIdentity({ ...identity, authenticatedAt }, { ...intent, isTimeKnown }, existing)
        const decision = decide(true)
        const name = `session of ${sessionUserId}, identity of ${identityUserId}, at ${authenticatedAt}`
        if (sessionUserId !== me) t.match(decision, { reason: 'session-changed' }, name)
        else if (identityUserId !== me) t.match(decision, { reason: 'another-identity' }, name)
        else if (!fresh) t.match(decision, { reason: 'not-authenticated-anew' }, name)
        else t.same(decision, { kind: 'reauthenticate', userId: me }, name)
        const isConfirmed =
          authenticatedAt === null && sessionUserId === me && identityUserId === me
        const expected = isConfirmed ? { kind: 'confirm', userId: me } : decision
        t.same(decide(false), expected, `${name}, at a provider that does not say when`)
      }
    }
  }
})

t.test('a provider is trusted for all addresses, for none or for whole domains', async (t) => {
  const cases: [boolean | string[], string, boolean][] = [
    [true, 'a@any.example', true],
    [false, 'a@any.example', false],
    [[], 'a@any.example', false],
    [['example.com'], 'a@example.com', true],
    [['example.com'], 'a@EXAMPLE.com', true],
    [['ok.example'], 'a@o\u212A.example', false], // the Kelvin sign is not a K
    [['example.com'], 'a@sub.example.com', false],
    [['example.com'], 'a@notexample.com', false],
    [['example.com'], 'a@example.com.evil', false],
    [['example.com'], '"@example.com"@evil.example', false],
    [['example.com'], 'example.com', true],
  ]
  for (const [trust, email, expected] of cases)
    t.equal(trustsAddress(trust, email), expected, email)
})

type World = {
  users: { email: string | null; verified: boolean }[]
  identities: Map<string, { owner: number; email: string | null; trusted: boolean }>
}

type Step = {
  subject: string
  email: string | null
  trusted: boolean
  intent: 'sign-in' | 'link' | 'reauthenticate'
  starter: number
  sessionUser: number
}

const steps = fc.array(
  fc.record<Step>({
    subject: fc.constantFrom('s1', 's2', 's3', 's4', 's5'),
    email: fc.constantFrom('a@x.example', 'b@x.example', 'A@X.example', null),
    trusted: fc.boolean(),
    intent: fc.constantFrom('sign-in', 'sign-in', 'link', 'reauthenticate'),
    starter: fc.nat(3),
    sessionUser: fc.nat(3),
  }),
  { maxLength: 30, size: 'max' },
)

t.test('any order of sign-ins: no identity moves, no account is taken over', async (t) => {
  let decided = 0
  fc.assert(
    fc.property(steps, (visits) => {
      const world: World = { users: [], identities: new Map() }
      for (const step of visits) {
        const before = new Map([...world.identities].map(([key, { owner }]) => [key, owner]))
        const decision = decide(world, step)
        judge(world, step, decision)
        apply(world, step, decision)
        decided += 1
        for (const [key, owner] of before) {
          if (world.identities.get(key)?.owner !== owner)
            throw new Error(`${key} moved to another user`)
        }
        const verified = world.users
          .filter((user) => user.verified)
          .map(({ email }) => lower(email))
        if (new Set(verified).size !== verified.length) {
          throw new Error('two users have the same verified address')
        }
      }
    }),
    { numRuns: 2_000 },
  )
  t.ok(decided > 10_000)
})

function decide(world: World, step: Step): IdentityDecision {
  const held = world.identities.get(step.subject)
  const holder = world.users.findIndex(
    ({ email, verified }) => verified && lower(email) === lower(step.email),
  )
  const intent: Intent =
    step.intent === 'sign-in'
      ? { kind: 'sign-in' }
      : {
          kind: step.intent,
          userId: step.starter,
          sessionUserId: step.sessionUser,
          startedAt,
          isTimeKnown,
        }
  const verified = {
    ...identity,
    subject: step.subject,
    email: step.email,
    emailTrusted: step.email !== null && step.trusted,
  }
  const identityUserId = held?.owner ?? null
  const addressUserId = holder === -1 ? null : holder
  const addressIsCurrent = [...world.identities.values()].some(
    ({ owner, email, trusted }) => owner === addressUserId && trusted && hasAddress(email, step),
  )
  const users = { identityUserId, addressUserId, addressUserOperates: false, addressIsCurrent }
  return decideIdentity(verified, intent, known(users))
}

function hasAddress(email: string | null, step: Step): boolean {
  return email !== null && lower(email) === lower(step.email)
}

/** An address gives access to an account only if an identity of it came last with the same, both verified. */
function judge(world: World, step: Step, decision: IdentityDecision): void {
  if (decision.kind === 'refuse' || decision.kind === 'create') return
  const owner = world.identities.get(step.subject)?.owner
  if (owner === decision.userId) return
  if (owner !== undefined) throw new Error('an identity of another user gave access to an account')
  if (decision.kind === 'link-own') {
    if (step.starter === step.sessionUser && decision.userId === step.starter) return
    throw new Error('a link for another user than the one who started it')
  }
  const both = [...world.identities.values()].some(
    (one) =>
      one.owner === decision.userId && one.trusted && step.trusted && hasAddress(one.email, step),
  )
  if (decision.kind !== 'link' || !both)
    throw new Error('access to an account without verification')
}

function apply(world: World, step: Step, decision: IdentityDecision): void {
  if (decision.kind === 'refuse') return
  if (decision.kind === 'create') world.users.push({ email: step.email, verified: false })
  const owner = decision.kind === 'create' ? world.users.length - 1 : decision.userId
  const { email, trusted } = step
  world.identities.set(step.subject, { owner, email, trusted })
  if (email !== null && trusted) prove(world, owner, email)
}

/** As `prove_address` does. */
function prove(world: World, owner: number, email: string): void {
  const same = world.users.filter((user) => lower(user.email) === lower(email))
  const user = world.users[owner]
  if (user === undefined || user.verified || same.some(({ verified }) => verified)) return
  for (const claimant of same) claimant.email = null
  Object.assign(user, { email, verified: true })
}

function lower(email: string | null): string | null {
  return email?.toLowerCase() ?? null
}
