import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { sha256 } from '#src/crypto/hash.ts'
import { version } from '#src/runtime/assets.ts'
import { writeBill, writeNotices } from './bill.ts'
import { bundleProgram, checkThread, queryCompiler, top } from './bundle.ts'
import { findPackages, findRuntime } from './packages.ts'

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
await writeFile(`${binary}.mjs`, bundle.code)
await writeFile(top + queryCompiler, bundle.queryCompilerWasm)
await writeFile(top + checkThread, bundle.threadCode)
await writeFile(
  `${binary}.json`,
  JSON.stringify({
    main: `${binary}.mjs`,
    mainFormat: 'module',
    executable: await stripped(),
    output: binary,
    disableExperimentalSEAWarning: true,
    useCodeCache: false,
    // V8 may use 4 GiB and collects late: these halve the memory under load for a tenth more CPU. The
    // first is a quarter of the default, and the second lets the heap grow by half between collections.
    execArgv: ['--max-semi-space-size=4', '--heap-growing-percent=50'],
    assets: bundle.assets,
  }),
)
// A running binary cannot be overwritten, but it can be replaced.
await rm(binary, { force: true })
const build = spawnSync(process.execPath, [`--build-sea=${binary}.json`], { stdio: 'inherit' })
if (build.status !== 0) throw new Error('The binary could not be built.')
await chmod(binary, 0o755)
await rm(`${binary}-node`, { force: true })

/**
 * A copy of Node without its symbols, a third of its size. They only name functions in native stack traces.
 * @returns Node itself where binutils are missing, or Node is signed
 */
async function stripped(): Promise<string> {
  if (process.platform !== 'linux') return process.execPath // elsewhere Node is signed
  const copy = `${binary}-node`
  await copyFile(process.execPath, copy)
  const { status } = spawnSync('strip', ['--strip-all', copy])
  if (status === 0) return copy
  process.stdout.write('Without strip (binutils) the file is 50 MB larger.\n')
  return process.execPath
}

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
