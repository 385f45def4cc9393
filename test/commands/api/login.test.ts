import { chmod, mkdir, open as openFile, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { createReceiver } from '#src/crypto/sealed-message.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { authenticatedAgo } from '#test/support/callers/account.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/** An instance that listens, a person who is signed in to it, and commands with an own configuration. */
async function setUp(t: Test) {
  const test = await build(t)
  const url = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const user = await createUser(test.database, { role: 'admin', email: 'ada@example.com' })
  const { cookie } = await signIn(test, user)
  const config = await temporaryFolder(t)
  const cwd = await temporaryFolder(t)
  const start = (args: string[], env: Record<string, string> = {}) =>
    runProgram(t, args, { XDG_CONFIG_HOME: config, NODE_ENV: 'production', ...env }, { cwd })
  const login = () => start(['login', url, '--no-browser'])
  return { test, url, cookie, start, login, file: join(config, 'gatehouse', 'login.json') }
}

/** Opens the page that the command has printed and confirms it. @returns where the browser is led */
async function confirm({ app }: TestApp, cookie: string, page: string): Promise<string> {
  const { pathname, search } = new URL(page)
  const headers = { accept: 'text/html', cookie }
  const shown = await app.inject({ url: pathname + search, headers })
  if (!shown.body.includes('Create a token for it')) throw new Error(shown.body)
  const fields = [...shown.body.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  const hidden = fields.map(([, name = '', value = '']) => [name, value] as const)
  const answer = await app.inject({
    method: 'POST',
    url: pathname,
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(
      [...hidden, ['name', 'ci'], ['days', '30']].map(([name = '', value = '']) => [name, value]),
    ).toString(),
  })
  return String(answer.headers.refresh).replace(/^0;url=/, '')
}

t.test('login keeps address and token together, for the commands that follow', async (t) => {
  const { test, url, cookie, start, login, file } = await setUp(t)
  const program = await login()
  const [page = ''] = await program.says(/http:\S+\/app\/command-line\S+/)
  const back = await confirm(test, cookie, page)
  t.match(back, /^http:\/\/127\.0\.0\.1:\d+\/\?state=/)

  const forged = new URL(back)
  forged.searchParams.set('state', 'x'.repeat(43))
  t.equal((await fetch(forged)).status, 400, 'the state of another run')
  t.equal((await fetch(`${forged.origin}//`)).status, 400, 'an address that is none')
  forged.search = new URL(back).search
  forged.searchParams.set('token', 'x'.repeat(100))
  t.equal((await fetch(forged)).status, 400, 'a token that is not sealed for this run')

  t.equal((await fetch(back)).status, 200)
  t.equal(await program.ended, 0, program.output())
  t.match(program.results(), /Signed in to http\S+ as ada@example\.com/)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  const kept = JSON.parse(await readFile(file, 'utf8'))
  t.match(kept, { url, token: /^gth_/ })
  t.notOk(program.output().includes(kept.token))
  t.notOk(decodeURIComponent(back).includes(kept.token), 'the token is sealed')

  const listed = await start(['endpoints', 'list'])
  t.equal(await listed.ended, 0, listed.output())
  t.match(listed.messages(), `${url} (gatehouse login)`)
  const elsewhere = await start(['endpoints', 'list'], { GATEHOUSE_URL: 'https://b.example' })
  t.equal(await elsewhere.ended, 1, 'the token goes nowhere else')
  t.match(elsewhere.messages(), /GATEHOUSE_URL is https:\/\/b\.example, but .* is for http/)

  await writeFile(file, await readFile(file), { mode: 0o644 })
  await chmod(file, 0o644)
  const open = await start(['endpoints', 'list'])
  t.equal(await open.ended, 1)
  t.match(open.messages(), /can be read by others\. chmod 600/)
})

t.test('a token is never in a file that others have open', async (t) => {
  const { test, cookie, login, file } = await setUp(t)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.new`, 'left over', { mode: 0o644 })
  const reader = await openFile(`${file}.new`)
  t.teardown(() => reader.close())
  const program = await login()
  const [page = ''] = await program.says(/http:\S+\/app\/command-line\S+/)
  await fetch(await confirm(test, cookie, page))
  t.equal(await program.ended, 0, program.output())
  t.equal((await stat(file)).mode & 0o777, 0o600)
  t.match(await readFile(file, 'utf8'), 'gth_')
  t.equal(await reader.readFile('utf8'), 'left over')
})

t.test('the .env of a folder does not say where logins are', async (t) => {
  const config = await temporaryFolder(t)
  const cwd = await temporaryFolder(t)
  const planted = join(cwd, 'gatehouse', 'login.json')
  await mkdir(dirname(planted))
  const login = { url: 'http://127.0.0.1:9', token: 'gth_x' }
  await writeFile(planted, JSON.stringify(login), { mode: 0o600 })
  await writeFile(join(cwd, '.env'), `XDG_CONFIG_HOME=${cwd}\n`)
  const env = { HOME: config, NODE_ENV: 'production' }
  const program = await runProgram(t, ['endpoints', 'list'], env, { cwd })
  t.equal(await program.ended, 1)
  t.match(program.messages(), 'GATEHOUSE_TOKEN: is missing')
})

t.test('login names an address that is missing or open to others', async (t) => {
  const { start, file } = await setUp(t)
  for (const [args, message] of [
    [['login'], /The address is missing/],
    [['login', 'http://app.example.com'], /must be https, except on loopback/],
  ] as const) {
    const program = await start([...args])
    t.equal(await program.ended, 1)
    t.match(program.messages(), message)
  }
  await t.rejects(stat(file), { code: 'ENOENT' })
})

t.test('after a confirmation of the identity the form is shown again', async (t) => {
  const { test, cookie } = await setUp(t)
  await authenticatedAgo(test, 3_600)
  const { userId } = (await test.database.admin.query('SELECT id AS "userId" FROM users')).rows[0]
  const asked = { port: '4000', state: 's'.repeat(43), key: createReceiver().publicKey }
  const headers = { accept: 'text/html', cookie, origin: test.config.baseUrl }
  const refused = await test.app.inject({
    method: 'POST',
    url: '/app/command-line',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...asked, sender: userId, name: 'ci', days: '30' }).toString(),
  })
  t.equal(refused.statusCode, 403)
  const kept = refused.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const again = await test.app.inject({
    url: '/app/command-line',
    headers: { ...headers, cookie: `${cookie}; ${kept}` },
  })
  t.match(again.body, `name="state" value="${asked.state}"`)
  t.match(again.body, `name="key" value="${asked.key}"`)
})

t.test('the page asks before it creates a token, and takes loopback ports only', async (t) => {
  const { test, cookie } = await setUp(t)
  const headers = { accept: 'text/html', cookie }
  const query = {
    ...{ port: '4000', state: 's'.repeat(43), key: createReceiver().publicKey, name: '<b>ci' },
  }
  const open = (change: Record<string, string>) =>
    test.app.inject({
      url: `/app/command-line?${new URLSearchParams({ ...query, ...change })}`,
      headers,
    })
  t.match((await open({})).body, '&lt;b&gt;ci')
  for (const wrong of [
    { port: '80@evil.example' },
    { port: '0' },
    { key: 'short' },
    { state: '' },
  ]) {
    t.equal((await open(wrong)).statusCode, 400)
  }
  const bare = await test.app.inject({ url: '/app/command-line', headers })
  t.match(bare.body, 'Run <code>gatehouse login</code>')
  t.equal((await test.database.admin.query('SELECT FROM api_tokens')).rowCount, 0)

  const { userId } = (await test.database.admin.query('SELECT id AS "userId" FROM users')).rows[0]
  const confirmWith = (key: string) =>
    test.app.inject({
      method: 'POST',
      url: '/app/command-line',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ ...query, key, sender: userId, days: '30' }).toString(),
    })
  t.equal((await confirmWith('A'.repeat(43))).statusCode, 400, 'a key that agrees on no secret')
  t.equal((await test.database.admin.query('SELECT FROM api_tokens')).rowCount, 0)
  t.equal((await confirmWith(query.key)).statusCode, 200)
})
