import type { TestApp } from '#test/support/app/app.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'

/** The app token whose links open portals: an installation has a limited number of tokens. */
const portalApps = new WeakMap<TestApp, ReturnType<typeof addAppToken>>()

/** The same as before, unless a test has taken away its right. */
export async function portalAppOf(test: TestApp) {
  const known = await portalApps.get(test)
  const { rowCount } = await test.database.admin.query(
    `SELECT FROM app_tokens WHERE id = $1 AND permissions = '{portal-link:create}'`,
    [known?.id],
  )
  if (known !== undefined && rowCount === 1) return known
  const added = addPortalApp(test)
  portalApps.set(test, added)
  return added
}

export function addPortalApp({ database }: TestApp) {
  return addAppToken(database, { permissions: ['portal-link:create'] })
}
