import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import t from 'tap'
import { writeBill, writeNotices } from '#dev/release/bill.ts'
import { bundleProgram, top } from '#dev/release/bundle.ts'
import { findPackages, findRuntime, refuseLicences } from '#dev/release/packages.ts'

const subject = { name: 'gatehouse', version: '1.2.3', license: 'MIT', sha256: 'ab'.repeat(32) }

t.test('the bill lists exactly the packages in the binary', async (t) => {
  const bundle = await bundleProgram({ readable: true })
  const packages = await findPackages(bundle)
  const bill = JSON.parse(writeBill(subject, packages, await findRuntime()))
  t.match(bill, { bomFormat: 'CycloneDX', specVersion: '1.6' })
  t.match(bill.metadata.component, { name: 'gatehouse', version: '1.2.3' })

  type Component = { type: string; name: string; version: string; purl: string }
  const components: Component[] = bill.components
  const libraries = components.filter(({ type }) => type === 'library')
  // The readable bundle has a comment with the file of every module.
  const written = bundle.code.matchAll(/^ *\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)
  const inAssets = Object.keys(bundle.assets).flatMap(
    (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  )
  const names = new Set([...[...written].map(([, name]) => name), ...inAssets])
  t.same([...new Set(libraries.map(({ name }) => name))].sort(), [...names].sort())
  t.ok(names.size > 100)
  const asked = Object.values(bundle.metafile.outputs).flatMap(({ imports }) => imports)
  t.same(
    asked.filter(({ path }) => !isBuiltin(path)),
    [],
    'the binary loads no module from outside',
  )

  const lock: { packages: Record<string, Locked> } = JSON.parse(
    await readFile(`${top}package-lock.json`, 'utf8'),
  )
  const locked = Object.entries(lock.packages).map(([path, one]) => ({
    ...one,
    name: path.split('node_modules/').at(-1),
  }))
  for (const { name, version } of libraries) {
    const one = locked.find((other) => other.name === name && other.version === version)
    t.match(one, { version }, `${name} ${version} is in the lock file`)
    t.not(one?.dev, true, `${name} is not a development dependency`)
  }
  const node = components.filter(({ type }) => type === 'platform')
  t.match(node, [{ purl: `pkg:generic/node@${process.versions.node}`, components: Array }])
  t.equal(new Set(components.map((one) => one.purl)).size, components.length)

  const notices = writeNotices(packages)
  for (const { name, version, texts } of packages) {
    t.match(notices, `\n${name} ${version} (`)
    t.match(texts.join(), /Permission|Licen[cs]e|Redistribution/, `${name} has a text`)
  }
})

type Locked = { version?: string; dev?: boolean }

t.test('a licence that is not allowed, or none, fails the build', async (t) => {
  refuseLicences([{ name: 'good', license: 'MIT' }])
  for (const license of ['AGPL-3.0', 'MIT OR GPL-2.0', 'UNLICENSED', '']) {
    t.throws(() => refuseLicences([{ name: 'bad', license }]), { message: /bad \(/ }, license)
  }
})
