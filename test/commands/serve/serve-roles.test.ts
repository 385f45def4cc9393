import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { faultsIn } from '#test/reliability/instance.ts'
import { production } from '#test/support/app/production.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

t.test('web and worker each start with the secrets of their role alone, in files', async (t) => {
  const settings = production(await createDatabase(t))
  const { DATABASE_URL, DATABASE_WORKER_URL, SESSION_SECRETS, BILLING_WEBHOOK_SECRETS } = settings
  const { ENCRYPTION_KEYS, OIDC_ACME_LOGIN_CLIENT_SECRET, ...open } = settings
  const shared = { ENCRYPTION_KEYS, OIDC_ACME_LOGIN_CLIENT_SECRET }
  const ofWeb = { DATABASE_URL, SESSION_SECRETS, BILLING_WEBHOOK_SECRETS }
  const ofWorker = { DATABASE_WORKER_URL }
  for (const name of Object.keys({ ...ofWeb, ...ofWorker })) delete open[name]

  const start = async (role: string, secrets: Record<string, string | undefined>) => {
    const files = await writeFiles(t, { ...shared, ...secrets })
    const program = await runProgram(t, ['serve'], { ...open, ...files, ROLE: role })
    await program.says(/"msg":"started"/)
    program.child.kill('SIGTERM')
    t.equal(await program.ended, 0, role)
    t.strictSame(faultsIn(program.output(), 'error|fatal|warn'), [])
  }
  await start('web', ofWeb)
  await start('worker', ofWorker)
})

t.test('a secret file that cannot be read is one line and exit status 1', async (t) => {
  const { SESSION_SECRETS, ...settings } = production(await createDatabase(t))
  const env = { ...settings, SESSION_SECRETS_FILE: '/nowhere/session' }
  const program = await runProgram(t, ['serve'], env)
  t.equal(await program.ended, 1)
  t.match(program.messages(), /SESSION_SECRETS_FILE: \/nowhere\/session cannot be read \(ENOENT\)/)
})

/** Writes each value to a file, as a secret mounted into a container. @returns the settings */
async function writeFiles(t: Test, secrets: Record<string, string | undefined>) {
  const folder = await temporaryFolder(t)
  const settings: Record<string, string> = {}
  for (const [name, value = ''] of Object.entries(secrets)) {
    settings[`${name}_FILE`] = join(folder, name)
    await writeFile(join(folder, name), `${value}\n`)
  }
  return settings
}
