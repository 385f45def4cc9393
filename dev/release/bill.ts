import type { Package } from './packages.ts'

type Subject = { name: string; version: string; license: string; sha256: string }

/** Entries of `process.versions` that are interfaces or data, not bundled libraries. */
const interfaces = ['node', 'modules', 'napi', 'unicode', 'cldr', 'tz']

/**
 * The bill of materials of the binary (CycloneDX 1.6): the bundled packages, and Node with its
 * libraries. Without timestamp and serial number, so that builds of the same sources are identical.
 */
export function writeBill(
  subject: Subject,
  packages: readonly Package[],
  runtime: Package,
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string {
  const parts = Object.entries(versions)
    .filter(([name]) => !interfaces.includes(name))
    .map(([name, version]) => ({ type: 'library', name, version: String(version) }))
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': subject.name,
        name: subject.name,
        version: subject.version,
        licenses: licensesOf(subject),
        hashes: [{ alg: 'SHA-256', content: subject.sha256 }],
      },
    },
    components: [
      ...packages.map((one) => ({ type: 'library', ...componentOf(one, `pkg:npm/${one.name}`) })),
      { type: 'platform', ...componentOf(runtime, 'pkg:generic/node'), components: parts },
    ],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** The licence texts that must be distributed with the binary. */
export function writeNotices(packages: readonly Package[]): string {
  const line = '='.repeat(80)
  const sections = packages.map(
    ({ name, version, license, texts }) =>
      `${line}\n${name} ${version} (${license})\n${line}\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`,
  )
  return [
    'This program contains the following software under the following licences.\n',
    ...sections,
  ].join('\n')
}

function componentOf(one: Package, address: string) {
  const purl = `${address.replace('/@', '/%40')}@${one.version}`
  return {
    'bom-ref': purl,
    name: one.name,
    version: one.version,
    purl,
    licenses: licensesOf(one),
  }
}

function licensesOf({ license }: { license: string }) {
  return [{ license: { id: license } }]
}
