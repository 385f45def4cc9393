import { sha256 } from '#src/crypto/hash.ts'

/**
 * Runs test files on another app than the sample: what they test is promised for every app. The process must be
 * their own, since it loads one app and keeps it.
 * @param app its folder, or `none`
 * @param files import them
 */
export async function runOnApp(
  app: string,
  files: readonly (() => Promise<unknown>)[],
): Promise<void> {
  process.argv.push('--app', app)
  // A path may be longer than a name, and have capitals, which are small letters in a name without quotes.
  const digest = sha256(app).toString('hex').slice(0, 16)
  process.env.TEST_TEMPLATE = `gatehouse_template_${digest}`
  const { appFolder } = await import('#src/resources/running-app.ts')
  if (appFolder !== (app === 'none' ? null : app)) throw new Error('Another app is loaded already.')
  const { prepareTemplate } = await import('#test/support/database/template.ts')
  await prepareTemplate(String(process.env.TEST_POSTGRES_URL))
  for (const load of files) await load()
}
