import { spawnSync } from 'node:child_process'
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { listAssets } from './assets.ts'

/*
 * `npm run build:binary`: dist/gatehouse, the whole program in one file with its migrations, pages
 * and WebAssembly inside, and without the demo.
 */

const top = fileURLToPath(new URL('..', import.meta.url))
const bundle = `${top}dist/gatehouse.mjs`
const blueprint = `${top}dist/gatehouse.json`
const binary = `${top}dist/gatehouse`

await mkdir(`${top}dist`, { recursive: true })
await build({
  entryPoints: [`${top}src/cli.ts`],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  target: 'node26',
  format: 'esm',
  minifySyntax: true,
  keepNames: true,
  legalComments: 'none',
  logLevel: 'error',
  // Packages of the CommonJS kind ask for Node's own modules by `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(process.execPath);",
  },
  plugins: [withoutDemo()],
})
await writeFile(
  blueprint,
  JSON.stringify({
    main: bundle,
    mainFormat: 'module',
    output: binary,
    disableExperimentalSEAWarning: true,
    useCodeCache: false,
    assets: Object.fromEntries((await assets()).map((path) => [path, `${top}${path}`])),
  }),
)
// One that runs cannot be written over, but it can be replaced.
await rm(binary, { force: true })
const { status } = spawnSync(process.execPath, [`--build-sea=${blueprint}`], { stdio: 'inherit' })
if (status !== 0) throw new Error('The binary could not be put together.')
await chmod(binary, 0o755)
const { size } = await stat(binary)
process.stdout.write(`dist/gatehouse: ${(size / 1e6).toFixed(0)} MB\n`)

/** Everything that readAsset is asked for. */
async function assets(): Promise<string[]> {
  return [
    ...(await listAssets('prisma/migrations')).filter((path) => path.endsWith('.sql')),
    ...(await listAssets('src/pages')).filter((path) => /\.(css|js)$/.test(path)),
    'node_modules/@prisma/schema-engine-wasm/schema_engine_bg.wasm',
  ]
}

/** Whatever would start the demo gets the stand-in; what is only data stays. */
function withoutDemo(): Plugin {
  return {
    name: 'without-demo',
    setup({ onResolve }) {
      onResolve({ filter: /\/demo\/(demo|greeting|running-demo)\.ts$/ }, () => ({
        path: `${top}src/demo/missing.ts`,
      }))
    },
  }
}
