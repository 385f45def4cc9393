import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { startProvider } from '#dev/demo/provider.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { people } from '#src/commands/development/sample/people.ts'
import { caddy, startCaddy } from '#test/release/caddy.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { postgresPrograms, startMachinePostgres } from '#test/support/database/machine-postgres.ts'
import { createAuthority } from '#test/support/processes/certificates.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { codeBlocks, readPage, root } from './page.ts'

/* The blocks of docs/install.md in their order, as a new operator runs them. */

const missing = [caddy === null && 'Caddy', postgresPrograms === null && 'PostgreSQL']
const skip = missing.some(Boolean) && `not on this machine: ${missing.filter(Boolean).join(', ')}`
const [person] = people
if (person === undefined) throw new Error('the demo has people')

t.test('an empty machine is installed by the steps of the page', { skip }, async (t) => {
  const page = await readPage('docs/install.md')
  const [database, init, check, serve, login, webhook, ...others] = codeBlocks(page, 'sh')
  t.strictSame(others, [], 'every block is run here')
  const [proxy = ''] = codeBlocks(page, 'caddyfile')
  const scene = await setUp(t)
  const { shell, env, cwd, origin, issuer, ports } = scene

  const made = await shell(database)
  const [, password = ''] = /password: ([\da-f]{48})/.exec(made) ?? []
  t.not(password, '')

  const ownerUrl = new URL(env.SUPERUSER_URL)
  ownerUrl.username = 'gatehouse_owner'
  ownerUrl.password = password
  ownerUrl.pathname = '/gatehouse'
  const answers = [origin, '', 'login', issuer, 'app', 'hush-hush-hush-hush', ownerUrl.href, '', '']
  const asked = await shell(init, { input: answers })
  t.match(asked, /OPERATORS is empty/)
  const settings = await readFile(join(cwd, '.env'), 'utf8')
  t.match(settings, "HOST='127.0.0.1'")
  t.notMatch(settings, password, 'the password of the owner is in another file')
  const again = await shell(init, { input: answers, status: 1 })
  t.match(again, '.env exists already.')
  // The ports of the page may be in use on this machine.
  await appendFile(
    join(cwd, '.env'),
    `PORT=${ports.web}\nADMIN_PORT=${ports.admin}\nOUTBOUND_ALLOW=${new URL(env.RECEIVER_URL).host}\n`,
  )

  t.match(await shell(serve, { status: 1 }), /the database|gatehouse migrate/, 'before migrate')
  const untrusted = await shell('gatehouse doctor', { status: 1, env: { NODE_EXTRA_CA_CERTS: '' } })
  t.match(untrusted, /certificate/)
  const superuser = await shell('gatehouse migrate', {
    status: 1,
    env: { DATABASE_OWNER_URL: env.SUPERUSER_URL },
  })
  t.match(superuser, /is a superuser/)
  const checked = await shell(check)
  t.notMatch(checked, 'FAULT')
  t.notMatch(checked, 'DATABASE_OWNER_URL', 'doctor finds nothing that serve should not have')
  t.match(checked, /ok +provider login/)

  const first = await scene.start(serve)
  await first.says(/"msg":"started"/)
  t.notMatch(first.output(), 'DATABASE_OWNER_URL', 'serve does not have it')
  const site = proxy
    .replace('app.example.com {', `${origin} {\n\ttls ${scene.certificate}`)
    .replace('127.0.0.1:3000', `127.0.0.1:${ports.web}`)
  await scene.serveTls(site)

  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const tab = await context.newPage()
  await tab.goto(origin)
  await tab.getByRole('link', { name: /Sign in/ }).click()
  await tab.getByRole('button', { name: person.name }).click()
  await tab.waitForURL(`${origin}/**`)
  await tab.getByLabel('Name of the tenant').fill('Acme')
  await tab.getByRole('button', { name: 'Save and continue' }).click()
  await tab.waitForURL(`${origin}/`)
  t.match(await tab.locator('main').innerText(), 'No one operates this installation yet')
  const operator = (await tab.locator('#operator-0').textContent()) ?? ''
  t.equal(operator, `login:${person.subject}`)
  await appendFile(join(cwd, '.env'), `OPERATORS='${operator}'\n`)
  first.child.kill('SIGINT')
  await first.ended
  const second = await scene.start(serve)
  await second.says(/"msg":"started"/)
  await tab.goto(`${origin}/app/operations`)
  t.equal(await tab.getByRole('heading', { level: 1 }).count(), 1)
  t.equal((await tab.goto(origin))?.status(), 200)
  t.equal(await tab.locator('#operator-0').count(), 0)

  const signingIn = await scene.start(login?.replace('https://app.example.com', origin))
  const [opened = ''] = await signingIn.says(/https:\S+\/app\/command-line\S+/)
  await tab.goto(opened)
  await tab.getByRole('button', { name: 'Create a token for it' }).click()
  t.equal(await signingIn.ended, 0, signingIn.output())

  const sent = await shell(webhook)
  t.match(sent, /^Secret \(not shown again\): whsec_/m)
  t.match(sent, /^succeeded: 200 in \d+ ms$/m)
  t.match(sent, /succeeded +endpoint\.test +200/)
  t.equal(scene.receiver.requests.length, 1)
  second.child.kill('SIGTERM')
  t.equal(await second.ended, 0)
})

/** A machine with PostgreSQL, an https provider whose authority is not public, and a receiver. */
async function setUp(t: Test) {
  const cwd = await temporaryFolder(t)
  const server = await startMachinePostgres(t)
  const [web, admin, tls, providerTls] = await Promise.all([
    findFreePort(),
    findFreePort(),
    findFreePort(),
    findFreePort(),
  ])
  const [origin, issuer] = [`https://localhost:${tls}`, `https://localhost:${providerTls}`]
  const provider = await startProvider({
    ...{ port: 0, issuer, people },
    ...{ clientId: 'app', clientSecret: 'hush-hush-hush-hush' },
    redirectUris: [`${origin}/auth/callback`],
    postLogoutRedirectUris: [`${origin}/auth/signed-out`],
  } as Parameters<typeof startProvider>[0])
  t.teardown(() => provider.stop())
  const authority = createAuthority('The company')
  const { cert, key } = authority.certify({ names: ['localhost'], addresses: ['127.0.0.1'] })
  const files = { cert: join(cwd, 'cert.pem'), key: join(cwd, 'key.pem'), ca: join(cwd, 'ca.pem') }
  await writeFile(files.cert, cert)
  await writeFile(files.key, key)
  await writeFile(files.ca, authority.cert)
  const certificate = `${files.cert} ${files.key}`
  const serveTls = (site: string) => startCaddy(t, site)
  await serveTls(
    `${issuer} {\n\ttls ${certificate}\n\treverse_proxy ${new URL(provider.address).host}\n}\n`,
  )
  const receiver = await startReceiver((_request, response) => response.end())
  t.teardown(() => receiver.close())
  const command = `#!/bin/sh\nexec '${process.execPath}' '${root}/dev/cli.ts' "$@"\n`
  const programs = await temporaryFolder(t)
  await writeFile(join(programs, 'gatehouse'), command, { mode: 0o755 })
  const env = {
    PATH: [programs, postgresPrograms, process.env.PATH].join(delimiter),
    HOME: cwd,
    XDG_CONFIG_HOME: cwd,
    SUPERUSER_URL: server('postgres'),
    RECEIVER_URL: receiver.url,
    NODE_EXTRA_CA_CERTS: files.ca,
  }
  const start = (script = '', more: Record<string, string> = {}) =>
    runProgram(t, ['-ec', `exec ${script}`], { ...env, ...more }, { program: '/bin/sh', cwd })
  /** Runs a block to its end. @returns everything that it printed */
  const shell = async (
    script = '',
    {
      input,
      status = 0,
      env: more = {},
    }: { input?: readonly string[]; status?: number; env?: Record<string, string> } = {},
  ) => {
    const text = input?.map((line) => `${line}\n`).join('')
    const typed = text === undefined ? script : `gatehouse_answers | ${script}`
    const answers = join(cwd, 'answers')
    if (text !== undefined) await writeFile(answers, text)
    const program = await runProgram(
      t,
      ['-ec', typed.replace('gatehouse_answers', `cat '${answers}'`)],
      { ...env, ...more },
      { program: '/bin/sh', cwd },
    )
    t.equal(await program.ended, status, program.output())
    return program.output()
  }
  const ports = { web, admin }
  return { cwd, env, shell, start, origin, issuer, certificate, serveTls, receiver, ports }
}
