import { execFileSync } from 'node:child_process'
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { demoPackages } from '#dev/demo/packages.ts'
import { version } from '#src/runtime/assets.ts'
import { writeNotices } from './bill.ts'
import {
  listAssetFiles,
  queryCompiler,
  scriptBanner,
  top,
  withoutOptional,
  withQueryCompiler,
} from './bundle.ts'
import { writeTypes } from './package-types.ts'
import { findPackages } from './packages.ts'

/*
 * `npm run build:package`: writes dist/package, and dist/gatehouse-VERSION.tgz, which an app depends on: JavaScript,
 * as Node strips types only outside node_modules, with the types, the SQL and the files of the pages.
 */

/** The modules that an app or a process begins with. */
const entries = {
  cli: 'dev/cli.ts',
  program: 'src/cli.ts',
  app: 'src/resources/load-app.ts',
  index: 'src/package/index.ts',
  routes: 'src/package/routes.ts',
  client: 'clients/typescript/src/client.ts',
  testing: 'dev/testing/index.ts',
  thread: 'src/webhooks/checks/thread.ts',
}

// Of this run, and renamed once it is whole: others may build or read the package meanwhile.
await mkdir(`${top}dist`, { recursive: true })
const folder = await mkdtemp(`${top}dist/package-`)
/** Two folders below package.json, as the sources: modules find the assets relative to themselves. */
const scripts = `${folder}/dist/js`

/**
 * What stays a dependency: what an app imports too, what Fastify brings anyway, and what has its own files. The rest
 * is bundled, a tenth of its size: an app installs fewer packages, and those of the versions that are tested.
 */
const shared = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@fastify/type-provider-typebox',
  '@prisma/schema-engine-wasm',
  'fastify',
  'fastify-plugin',
  'find-my-way',
  'openapi-fetch',
  'pg',
  'pino',
  'typebox',
]

/** Beside the documents, what they lead to. */
const ownFiles = new Set(['CHANGELOG.md', 'LICENSE', 'THIRD-PARTY-NOTICES'])

/** What only development needs. */
const peers = [...Object.values(demoPackages), 'esbuild']

const manifest = JSON.parse(await readFile(`${top}package.json`, 'utf8'))

const metafile = await writeScripts()
await writeTypes(
  [entries.index, entries.routes, entries.client, entries.testing],
  `${folder}/dist/types`,
)
for (const path of [...(await listAssetFiles()), 'dev/demo/provider.css', 'LICENSE'])
  await cp(top + path, `${folder}/${path}`)
await cp(`${top}dev/template`, `${folder}/dev/template`, { recursive: true })
const documents = (await readdir(`${top}docs`)).filter((name) => name.endsWith('.md'))
await mkdir(`${folder}/docs`, { recursive: true })
for (const name of documents) {
  const text = await readFile(`${top}docs/${name}`, 'utf8')
  await writeFile(`${folder}/docs/${name}`, withinPackage(text, `${folder}/docs`))
}
const readme = readmeOf(await readFile(`${top}docs/package.md`, 'utf8'))
await writeFile(`${folder}/README.md`, withinPackage(readme, folder))
const changes = await readFile(`${top}CHANGELOG.md`, 'utf8')
await writeFile(`${folder}/CHANGELOG.md`, withinPackage(changes, folder))
await writeFile(
  `${folder}/THIRD-PARTY-NOTICES`,
  writeNotices(await findPackages({ metafile, assets: {} })),
)
await writeFile(`${folder}/package.json`, `${JSON.stringify(ownManifest(), null, 2)}\n`)
const archive = `gatehouse-${version}.tgz`
const packed = await mkdtemp(`${top}dist/packed-`)
execFileSync('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: folder })
await rename(`${packed}/${archive}`, `${top}dist/${archive}`)
await rm(packed, { recursive: true })
await chmod(folder, 0o755)
await rm(`${top}dist/package`, { recursive: true, force: true })
// Another run was faster if the name is taken again.
await rename(folder, `${top}dist/package`).catch(() => rm(folder, { recursive: true }))
process.stdout.write(`dist/${archive}\n`)
if (manifest.repository === undefined) {
  process.stderr.write(
    'package.json names no repository, so npm would refuse to publish it with provenance (docs/releases.md).\n',
  )
}

/** At the top of the package, above the other documents. */
function readmeOf(page: string): string {
  return page
    .replaceAll(/\]\((?=[\w-]+\.md)/g, '](docs/')
    .replaceAll(/\]\(\.\.\/(?=[\w-]+\.md)/g, '](')
}

/**
 * Leaves the words of links to what only the repository has, such as sources and pictures.
 * @param from the folder of the document in the package
 */
function withinPackage(text: string, from: string): string {
  const isThere = (path: string) => {
    const file = relative(folder, resolve(from, path))
    return /^docs\/[^/]+$/.test(file)
      ? documents.includes(file.slice('docs/'.length))
      : ownFiles.has(file)
  }
  return text.replaceAll(
    /!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s#:]+)(#[^()\s]*)?\)/g,
    (link, words: string, path: string) => (isThere(path) ? link : words),
  )
}

/** Entries share their chunks, so that an app declares itself with the modules that the program runs. */
async function writeScripts(): Promise<Metafile> {
  const query = withQueryCompiler()
  const { metafile } = await build({
    absWorkingDir: top,
    entryPoints: entries,
    outdir: scripts,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none', // see THIRD-PARTY-NOTICES
    logLevel: 'error',
    metafile: true,
    banner: { js: scriptBanner },
    plugins: [query.plugin, withDependencies(), withoutOptional()],
  })
  await writeFile(`${folder}/${queryCompiler}`, query.wasm() ?? '')
  await chmod(`${scripts}/cli.js`, 0o755)
  return metafile
}

/** @throws Error if the program imports a package that is in no list */
function withDependencies(): Plugin {
  const outside = new Set<string>([...shared, ...peers])
  return {
    name: 'with-dependencies',
    setup({ onResolve }) {
      onResolve({ filter: /^[a-z@]/ }, ({ path, importer, kind }) => {
        const name = path.split('/', path.startsWith('@') ? 2 : 1).join('/')
        if (outside.has(name)) return { path, external: true }
        const isOwn = kind !== 'entry-point' && !importer.includes('/node_modules/')
        if (isOwn && !path.startsWith('node:') && !(name in manifest.dependencies))
          throw new Error(`${importer} imports ${name}, which is no dependency.`)
        return null
      })
    },
  }
}

function ownManifest(): object {
  const { name, description, license, type, engines } = manifest
  const entry = (source: string, script: string) => ({
    types: `./dist/types/${source.replace('.ts', '.d.ts')}`,
    default: `./dist/js/${script}.js`,
  })
  return {
    ...{ name, version, description, license, type },
    ...(manifest.repository && { repository: manifest.repository }),
    engines: { node: engines.node },
    // With an attestation of where it was built, which npm makes in a workflow only.
    publishConfig: { access: 'public', provenance: true },
    bin: { gatehouse: 'dist/js/cli.js' },
    exports: {
      '.': entry(entries.index, 'index'),
      './routes': entry(entries.routes, 'routes'),
      './client': entry(entries.client, 'client'),
      './testing': entry(entries.testing, 'testing'),
    },
    imports: {
      '#src/*.ts': './dist/types/src/*.d.ts',
      '#plugins/*.ts': './dist/types/plugins/*.d.ts',
      '#routes/*.ts': './dist/types/routes/*.d.ts',
      '#clients/*.ts': './dist/types/clients/*.d.ts',
      '#dev/*.ts': './dist/types/dev/*.d.ts',
      '#prisma/*': './dist/types/prisma/*.d.ts',
    },
    dependencies: Object.fromEntries(shared.map((one) => [one, manifest.dependencies[one]])),
    peerDependencies: Object.fromEntries(
      peers.map((peer) => [peer, `>=${manifest.devDependencies[peer]}`]),
    ),
    peerDependenciesMeta: Object.fromEntries(peers.map((peer) => [peer, { optional: true }])),
  }
}
