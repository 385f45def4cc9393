import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { sha256 } from '#src/crypto/hash.ts'
import { version } from '#src/runtime/assets.ts'
import { writeBill, writeNotices } from './bill.ts'
import { bundleProgram, top } from './bundle.ts'
import { findPackages, findRuntime } from './packages.ts'
import { writeBinary } from './sea.ts'

/*
 * `npm run build:binary [-- --app FOLDER]`: writes dist/gatehouse, the program in one file with its
 * migrations, pages and WebAssembly but without the demo, and next to it the bill of materials and the
 * licences. It contains the app of the folder; without one it runs none.
 */

const { values } = parseArgs({ options: { app: { type: 'string' } } })

const binary = `${top}dist/gatehouse`

await mkdir(`${top}dist`, { recursive: true })
const bundle = await bundleProgram({ app: values.app ?? null })
const packages = await findPackages(bundle)
const runtime = await findRuntime()
await writeBinary(bundle, binary, (line) => process.stdout.write(`${line}\n`))

const whole = await readFile(binary)
const subject = {
  name: 'gatehouse',
  version,
  license: 'MIT',
  sha256: sha256(whole).toString('hex'),
}
await writeFile(`${binary}.cdx.json`, writeBill(subject, packages, runtime))
await writeFile(`${top}dist/THIRD-PARTY-NOTICES`, writeNotices([...packages, runtime]))
process.stdout.write(
  `dist/gatehouse: ${(whole.length / 1e6).toFixed(0)} MB, with ${packages.length} packages and Node ${runtime.version}\n`,
)
