import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { type Receiver, startReceiver } from '#dev/testing/receiver.ts'
import { createIdentityTokens } from '#src/auth/forward-auth/identity-token.ts'
import { deriveSigningKey, signToken } from '#src/crypto/signing-key.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { codeBlocks, readPage, root } from '../page.ts'

/* The sample apps of docs/beside-your-app.md, with a key set that this test serves. */

const run = promisify(execFile)
const folder = `${root}/docs/beside-your-app`
const audience = 'https://app.example.com'
const key = (id: string, byte: number) => ({ id, secret: new Uint8Array(32).fill(byte) })
const [a, b, foreign] = [key('a', 1), key('b', 2), key('c', 3)]
type Key = typeof a

const identity = {
  subject: '7',
  userId: 7,
  tenantId: 'acme',
  role: 'viewer',
  email: null,
  permissions: ['post:read'],
  plan: null,
}

const gson = '/usr/share/java/gson.jar' // where Debian has it

/** `args`: between the interpreter and the source. Null as interpreter: it is not installed, or lacks a package. */
const apps = [
  { name: 'Node.js', file: 'app.mjs', interpreter: process.execPath, args: () => [] },
  {
    name: 'Python',
    file: 'app.py',
    // The packages of Debian are those of its own Python.
    interpreter: await firstThatRuns(
      [findProgram('python3'), '/usr/bin/python3'],
      ['-c', 'import jwt.jwks_client, cryptography.hazmat.primitives.asymmetric.ed25519'],
    ),
    args: () => [],
  },
  { name: 'Go', file: 'app.go', interpreter: findProgram('go'), args: () => [] },
  {
    name: 'PHP',
    file: 'app.php',
    interpreter: await firstThatRuns(
      [findProgram('php')],
      ['-r', 'exit(extension_loaded("apcu") && extension_loaded("sodium") ? 0 : 1);'],
    ),
    args: (port: number) => ['-d', 'apc.enable_cli=1', '-S', `127.0.0.1:${port}`],
  },
  {
    name: 'Ruby',
    file: 'app.rb',
    interpreter: await firstThatRuns([findProgram('ruby')], ['-e', 'require "webrick"']),
    args: () => [],
  },
  {
    name: 'Java',
    file: 'App.java',
    // A source is started by the compiler.
    interpreter: existsSync(gson) && findProgram('javac') !== null ? findProgram('java') : null,
    args: () => ['-cp', gson],
  },
]

async function firstThatRuns(
  programs: readonly (string | null)[],
  args: readonly string[],
): Promise<string | null> {
  for (const program of programs.filter((one) => one !== null)) {
    const runs = run(program, args).then(
      () => true,
      () => false,
    )
    if (await runs) return program
  }
  return null
}

t.test('the page shows two apps unchanged, and names all', async (t) => {
  const page = await readPage('docs/beside-your-app.md')
  for (const [file, fence] of [
    ['app.py', 'python'],
    ['app.go', 'go'],
  ] as const) {
    const program = await readPage(`docs/beside-your-app/${file}`)
    t.strictSame(codeBlocks(page, fence), [program], file)
  }
  for (const { file } of apps) t.match(page, `](beside-your-app/${file})`)
})

for (const app of apps) {
  const skip = app.interpreter === null && `${app.name}, with its packages, is not installed`
  t.test(`the app in ${app.name} believes genuine tokens and no others`, { skip }, async (t) => {
    const { issuer, ask, publish, fetches } = await start(t, app)
    publish(a)
    t.strictSame(await ask(tokenOf(issuer, a)), [200, '7 of acme\n'])
    for (const method of ['POST', 'DELETE']) {
      t.equal((await ask(tokenOf(issuer, a), method))[0], 200, method)
    }
    for (const [what, token] of Object.entries(badTokens(issuer))) {
      t.strictSame(await ask(token), [401, 'who are you?\n'], what)
    }
    t.strictSame(await ask(tokenOf(issuer, a)), [200, '7 of acme\n'], 'it goes on')

    const [began, before] = [Date.now(), fetches()]
    for (let n = 0; n < 50; n++) t.equal((await ask(tokenOf(issuer, foreign)))[0], 401)
    const seconds = (Date.now() - began) / 1_000
    t.ok(fetches() - before <= seconds + 1, 'unknown keys make it ask at most once a second')
  })

  t.test(`the app in ${app.name} follows a rotation of keys`, { skip }, async (t) => {
    const { issuer, ask, publish } = await start(t, app)
    publish(a)
    t.equal((await ask(tokenOf(issuer, a)))[0], 200)
    publish(a, b)
    await untilTrue(async () => (await ask(tokenOf(issuer, b)))[0] === 200)
    t.equal((await ask(tokenOf(issuer, a)))[0], 200, 'the old key is still published')
    publish(b)
    // An unknown key makes it fetch again, and then the old key is gone.
    await untilTrue(async () => {
      await ask(tokenOf(issuer, foreign))
      return (await ask(tokenOf(issuer, a)))[0] === 401
    })
    t.equal((await ask(tokenOf(issuer, b)))[0], 200)
  })

  t.test(
    `the app in ${app.name} keeps its keys while others cannot be fetched`,
    { skip },
    async (t) => {
      const { issuer, ask, publish, fail, fetches } = await start(t, app)
      publish(a)
      t.equal((await ask(tokenOf(issuer, a)))[0], 200)
      fail()
      const before = fetches()
      const answers = new Set<string>()
      await untilTrue(async () => {
        answers.add(JSON.stringify(await ask(tokenOf(issuer, foreign))))
        return fetches() !== before
      })
      t.strictSame([...answers], [JSON.stringify([401, 'who are you?\n'])])
      t.strictSame(await ask(tokenOf(issuer, a)), [200, '7 of acme\n'])
      publish(a, b)
      await untilTrue(async () => (await ask(tokenOf(issuer, b)))[0] === 200)
    },
  )
}

type Options = { now?: number; audience?: string }

/** A token as Gatehouse signs it. */
function tokenOf(
  issuer: string,
  key: Key,
  { now = Date.now(), audience: aud = audience }: Options = {},
): string {
  const clock = { now: () => new Date(now) }
  return createIdentityTokens({ keys: [key], issuer, clock }).sign(identity, aud)
}

function badTokens(issuer: string): Record<string, string> {
  const good = tokenOf(issuer, a)
  const [head = '', body = '', signature = ''] = good.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const signing = deriveSigningKey(a.secret, 'gatehouse identity token 1')
  const signed = (changes: object) => signToken(signing, { ...claims, ...changes })
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const { kid } = signing.jwk
  const hmac = `${part({ alg: 'HS256', kid })}.${body}`
  const publicKey = Buffer.from(signing.jwk.x, 'base64url')
  const forged = deriveSigningKey(foreign.secret, 'gatehouse identity token 1')
  return {
    'none at all': '',
    'of another issuer': tokenOf('https://gatehouse.example', a),
    'for another audience': tokenOf(issuer, a, { audience: 'https://other.example' }),
    'for several audiences': signed({ aud: [audience, 'https://other.example'] }),
    'for nobody': signed({ aud: undefined }),
    'that has expired': tokenOf(issuer, a, { now: Date.now() - 90_000 }),
    'that never expires': signed({ exp: undefined }),
    'that expires at some word': signed({ exp: 'never' }),
    'with another role': `${head}.${part({ ...claims, role: 'admin' })}.${signature}`,
    'of another person': `${head}.${part({ ...claims, sub: '1' })}.${signature}`,
    'with another signature': `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    'with half of its signature': `${head}.${body}.${signature.slice(0, 43)}`,
    'without a signature': `${head}.${body}.`,
    'of two parts': `${head}.${body}`,
    'of four parts': `${good}.${signature}`,
    'with spaces': `${head}. ${body}.${signature}`,
    'in padded base64': `${head}.${body}.${signature}==`,
    'with algorithm none': `${part({ alg: 'none', kid })}.${body}.`,
    'with algorithm none and a signature': `${part({ alg: 'none', kid })}.${body}.${signature}`,
    'signed with the public key as a secret': `${hmac}.${createHmac('sha256', publicKey).update(hmac).digest('base64url')}`,
    'of a key that is not published': tokenOf(issuer, foreign),
    'of another key under the published name': signToken(
      { ...forged, jwk: { ...forged.jwk, kid } },
      claims,
    ),
    'without a key': `${part({ alg: 'EdDSA' })}.${body}.${signature}`,
    'with its own key in the header': `${part({ alg: 'EdDSA', jwk: forged.jwk })}.${body}.${signature}`,
    'whose header is a list': `${part([])}.${body}.${signature}`,
    'whose header is nothing': `${part(null)}.${body}.${signature}`,
    'whose claims are a list': signToken(signing, []),
    'that is no JSON': `${Buffer.from('{').toString('base64url')}.${body}.${signature}`,
    'nested deeply': `${Buffer.from('['.repeat(5_000)).toString('base64url')}.${body}.${signature}`,
  }
}

/** The app as a process, and the key set that it fetches. */
async function start(t: Test, app: (typeof apps)[number]) {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const issuer = receiver.url
  const port = await findFreePort()
  const listens = { PORT: String(port), ADDRESS: `127.0.0.1:${port}` }
  const env = { GATEHOUSE_URL: issuer, IDENTITY_AUDIENCE: audience, ...listens }
  const { program, args } = await commandOf(t, app, port)
  await runProgram(t, args, env, { program })
  const url = `http://127.0.0.1:${port}/`
  const ask = async (token: string, method = 'GET'): Promise<[number, string]> => {
    const response = await fetch(url, { method, headers: { 'gatehouse-identity': token } })
    return [response.status, await response.text()]
  }
  await untilTrue(() => ask('').then(Boolean, () => false))
  const fail = () =>
    receiver.respond((_request, response) => {
      response.statusCode = 503
      response.end('{"title":"The service is not available","status":503}')
    })
  const fetches = () => receiver.requests.length
  return { issuer, ask, publish: publisherOf(receiver), fail, fetches }
}

/** Go is compiled first, without downloads. */
async function commandOf(
  t: Test,
  { file, interpreter, args }: (typeof apps)[number],
  port: number,
) {
  if (interpreter === null) throw new Error(`no interpreter for ${file}`)
  const source = `${folder}/${file}`
  if (file !== 'app.go') return { program: interpreter, args: [...args(port), source] }
  const program = `${await temporaryFolder(t)}/app`
  const env = { ...process.env, GO111MODULE: 'off', GOTOOLCHAIN: 'local' }
  await run(interpreter, ['build', '-o', program, source], { env })
  return { program, args: [] }
}

function publisherOf(receiver: Receiver) {
  return (first: Key, ...others: Key[]) => {
    const keys = [first, ...others] as const
    const { keySet } = createIdentityTokens({ keys, issuer: '', clock: systemClock })
    receiver.respond((request, response) => {
      response.statusCode = request.url === '/.well-known/jwks.json' ? 200 : 404
      response.end(JSON.stringify(keySet))
    })
  }
}
