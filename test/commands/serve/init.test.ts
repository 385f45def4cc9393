import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import t, { type Test } from 'tap'
import { readConfig } from '#src/config/config.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const cli = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url))

const answers = [
  'https://app.example.com',
  '172.30.0.0/24',
  '',
  'https://login.example.com',
  'client-1',
  'hush #1',
  'postgres://owner:pw%23@db.example:5433/product',
  'whsec_from_the_provider_of_billing',
]

t.test('the answers and new secrets become a complete configuration', async (t) => {
  const cwd = await temporaryFolder(t)
  const { status, results, messages } = await init(t, cwd, answers)
  t.equal(status, 0, messages)
  t.match(results, /gatehouse migrate[\s\S]*https:\/\/app\.example\.com\/auth\/callback/)
  t.notMatch(results + messages, 'hush')
  const file = join(cwd, '.env')
  t.equal((await stat(file)).mode & 0o777, 0o600)
  const env = parseEnv(await readFile(file, 'utf8'))
  t.match(env, {
    NODE_ENV: 'production',
    OIDC_LOGIN_CLIENT_SECRET: 'hush #1',
    DATABASE_OWNER_URL: 'postgres://owner:pw%23@db.example:5433/product',
    DATABASE_URL: /^postgres:\/\/gatehouse_app:[\w-]{43}@db\.example:5433\/product$/,
    DATABASE_WORKER_URL: /^postgres:\/\/gatehouse_worker:[\w-]{43}@db\.example:5433\/product$/,
  })
  t.match(readConfig(env), { baseUrl: 'https://app.example.com', providers: [{ name: 'login' }] })

  const again = await init(t, cwd, answers)
  t.equal(again.status, 1)
  t.match(again.messages, /\.env exists already\. Move it away/)
  t.strictSame(parseEnv(await readFile(file, 'utf8')), env, 'nothing was changed')
})

t.test('each answer is checked, and nothing is written with a wrong one', async (t) => {
  const cwd = await temporaryFolder(t)
  const wrong: [number, string, RegExp][] = [
    [0, 'http://app.example.com', /must be an https origin/],
    [0, 'https://app.example.com/path', /must be an https origin/],
    [1, 'proxy.example.com', /must be an address/],
    [1, '300.1.1.1', /TRUST_PROXY/],
    [2, 'Log In', /must be a word in lower case/],
    [3, 'login.example.com', /must be an https URL/],
    [4, '', /is needed/],
    [5, "it's", /must have no quotes/],
    [6, 'mysql://a:b@c/d', /must be postgres:/],
    [7, 'short', /BILLING_WEBHOOK_SECRETS/],
  ]
  for (const [index, answer, message] of wrong) {
    const { status, messages } = await init(t, cwd, answers.with(index, answer))
    t.equal(status, 1, answer)
    t.match(messages, message)
    await t.rejects(stat(join(cwd, '.env')), { code: 'ENOENT' })
  }
  const few = await init(t, cwd, answers.slice(0, 3))
  t.match(few, { status: 1, messages: /The answers ended too early\. Nothing was written\./ })
})

t.test('a file that cannot be written is named', async (t) => {
  const cwd = await temporaryFolder(t)
  await writeFile(join(cwd, 'file'), '')
  const { status, messages } = await init(t, cwd, answers, '--out', 'file/.env')
  t.equal(status, 1)
  t.match(messages, /file\/\.env cannot be written: .*Choose another one/)
})

async function init(t: Test, cwd: string, lines: readonly string[], ...args: string[]) {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [cli, 'init', ...args], { cwd, env: { PATH, HOME } })
  t.teardown(() => child.kill('SIGKILL'))
  child.stdin.on('error', () => {}) // it ends before it has read everything
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [results, messages, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { status, results, messages }
}
