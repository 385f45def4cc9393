import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError } from '#src/config/config.ts'
import { readSecretFiles } from '#src/config/secret-files.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

t.test('NAME_FILE of a secret is replaced by NAME with the content of the file', async (t) => {
  const folder = await temporaryFolder(t)
  const write = async (name: string, content: string) => {
    await writeFile(join(folder, name), content)
    return join(folder, name)
  }
  const env = {
    PORT: '3000',
    SESSION_SECRETS_FILE: await write('session', 'one,two\n'),
    DATABASE_URL_FILE: await write('url', 'postgres://app:word@127.0.0.1/gatehouse'),
    OIDC_ACME_LOGIN_CLIENT_SECRET_FILE: await write('client', '  a client secret\r\n'),
    ENCRYPTION_KEYS: 'k:given',
    ENCRYPTION_KEYS_FILE: '',
  }
  t.strictSame(readSecretFiles(env), {
    PORT: '3000',
    SESSION_SECRETS: 'one,two',
    DATABASE_URL: 'postgres://app:word@127.0.0.1/gatehouse',
    OIDC_ACME_LOGIN_CLIENT_SECRET: 'a client secret',
    ENCRYPTION_KEYS: 'k:given',
  })
  t.equal(env.SESSION_SECRETS_FILE, join(folder, 'session'), 'the given environment is not changed')
})

t.test('settings that are no secrets, and other variables, have no file', async (t) => {
  const env = { BASE_URL_FILE: '/nowhere', SSL_CERT_FILE: '/nowhere', _FILE: '/nowhere' }
  t.strictSame(readSecretFiles(env), env)
})

t.test('every file that cannot be used is a fault without its content', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'folder'))
  await writeFile(join(folder, 'empty'), ' \n')
  await writeFile(join(folder, 'good'), 'a hidden value')
  await writeFile(join(folder, 'endless'), 'x'.repeat(65_537))
  const cases: [Record<string, string>, RegExp][] = [
    [
      { SESSION_SECRETS_FILE: join(folder, 'none') },
      /^SESSION_SECRETS_FILE: .*none cannot be read/,
    ],
    [{ ENCRYPTION_KEYS_FILE: join(folder, 'folder') }, /^ENCRYPTION_KEYS_FILE: .* cannot be read/],
    [{ SMTP_URL_FILE: join(folder, 'empty') }, /^SMTP_URL_FILE: .* is empty/],
    [{ REDIS_URL_FILE: join(folder, 'endless') }, /^REDIS_URL_FILE: .* is too long/],
    [
      { BILLING_API_KEY: 'one', BILLING_API_KEY_FILE: join(folder, 'good') },
      /^BILLING_API_KEY_FILE: BILLING_API_KEY is set too/,
    ],
  ]
  const all = Object.assign({}, ...cases.map(([env]) => env))
  try {
    readSecretFiles(all)
    t.fail('was accepted')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    t.equal(error.faults.length, cases.length, 'all at once')
    for (const [index, [, pattern]] of cases.entries()) t.match(error.faults[index], pattern)
    t.notMatch(error.message, 'a hidden value')
  }
})
