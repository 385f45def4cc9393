import type { Package } from './packages.ts'

type Subject = { name: string; version: string; license: string; sha256: string }

/** Of what Node itself is made; `process.versions` also names interfaces, which are no parts. */
const interfaces = ['node', 'modules', 'napi', 'unicode', 'cldr', 'tz']

/**
 * The bill of materials of the binary (CycloneDX 1.6): the packages of which something is in it,
 * and Node with the libraries it is made of. Without time and serial number, so that two builds of
 * the same sources have the same bill.
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

/** The licence texts that have to go along with the binary. */
export function writeNotices(packages: readonly Package[]): string {
  const line = '='.repeat(80)
  const sections = packages.map(
    ({ name, version, license, texts }) =>
      `${line}\n${name} ${version} (${license})\n${line}\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`,
  )
  return [
    'This program contains the software below, under the licences that follow.\n',
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
