import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'
import { containedFolder, findConfig } from '#src/resources/load-app.ts'
import { listAssets } from '#src/runtime/assets.ts'

/** The folder of package.json, with a trailing slash. */
export const top = fileURLToPath(new URL('../..', import.meta.url))

/** What a binary is made of: the sources of a checkout, or the scripts of the package. */
const made = existsSync(`${top}src/cli.ts`)
  ? {
      program: `${top}src/cli.ts`,
      app: `${top}src/resources/load-app.ts`,
      thread: `${top}src/webhooks/checks/thread.ts`,
      alias: {
        'gatehouse/routes': `${top}src/package/routes.ts`,
        gatehouse: `${top}src/package/index.ts`,
      },
    }
  : {
      program: `${top}dist/js/program.js`,
      app: `${top}dist/js/app.js`,
      thread: `${top}dist/js/thread.js`,
      alias: {},
    }

/** The path of the thread that checks event data among the assets; the build writes it there. */
export const checkThread = 'dist/check-thread.js'

/** The path of Prisma's query compiler among the assets; the build writes it there. */
export const queryCompiler = 'dist/query-compiler.wasm'

export type Bundle = {
  /** The whole program as one module. */
  code: string
  /** esbuild's metafile; paths are relative to the top folder. */
  metafile: Metafile
  /** Files to embed, by the path that the program reads them at. */
  assets: Readonly<Record<string, string>>
  /** The content of `queryCompiler`. */
  queryCompilerWasm: Uint8Array
  /** The content of `checkThread`: a script, as a thread cannot begin with a module from memory. */
  threadCode: string
}

/**
 * Bundles the program without the demo into one module.
 * @param readable keep white space and the file names
 * @param app the folder of the app that it runs; without one it runs none
 */
export async function bundleProgram({
  readable = false,
  app = null,
}: {
  readable?: boolean
  app?: string | null
} = {}): Promise<Bundle> {
  const query = withQueryCompiler()
  const shared = {
    absWorkingDir: top, // makes the output independent of the current folder
    write: false,
    bundle: true,
    platform: 'node',
    target: `node${process.versions.node.split('.')[0]}`,
    minifySyntax: true,
    minifyWhitespace: !readable,
    keepNames: true,
    legalComments: 'none', // see dist/THIRD-PARTY-NOTICES
    logLevel: 'error',
    // The scripts of the package load CommonJS with it; in a binary there is nothing beside them.
    define: { 'import.meta.url': 'ofProgram' },
  } as const
  const thread = await build({
    ...shared,
    entryPoints: [made.thread],
    format: 'cjs',
    banner: { js: `const ofProgram = require('node:url').pathToFileURL(process.execPath).href;` },
  })
  const { outputFiles, metafile } = await build({
    ...shared,
    stdin: { contents: entryOf(app), resolveDir: top },
    outfile: `${top}dist/gatehouse.mjs`,
    metafile: true,
    format: 'esm',
    // CommonJS packages load Node's modules with `require`.
    banner: {
      js: `import { createRequire as requireFor } from 'node:module';
import { pathToFileURL as urlFor } from 'node:url';
const ofProgram = urlFor(process.execPath).href; const require = requireFor(ofProgram);`,
    },
    alias: made.alias,
    plugins: [query.plugin, withoutOptional(), withRequired()],
  })
  return {
    code: inAscii(outputFiles[0]?.text ?? ''),
    metafile,
    assets: { ...(await listFiles()), ...(await listMigrations(app)) },
    queryCompilerWasm: query.wasm() ?? (await readFile(top + queryCompiler)),
    threadCode: inAscii(thread.outputFiles[0]?.text ?? ''),
  }
}

/** The first module: the program begins when it knows its app. @throws OperatorError if the folder has none */
function entryOf(folder: string | null): string {
  const own =
    folder === null ? 'const app = null' : `import app from ${JSON.stringify(findConfig(folder))}`
  return `${own}
    import { containApp } from ${JSON.stringify(made.app)}
    containApp(app)
    await import(${JSON.stringify(made.program)})`
}

/**
 * V8 needs twice the memory for a source with a single character outside Latin-1. esbuild escapes
 * them except in tagged templates and regular expressions. An escape is equivalent there too, unless
 * a tag reads the raw text.
 */
function inAscii(code: string): string {
  return code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The SQL, the files of the pages, and the programs that a page shows. */
export async function listAssetFiles(): Promise<string[]> {
  return [
    ...(await listAssets('prisma')).filter((path) => path.endsWith('.sql')),
    ...(await listAssets('src/pages')).filter((path) => /\.(css|js|svg)$/.test(path)),
    ...(await listAssets('docs/verifying-webhooks')),
  ]
}

const schemaEngine = '@prisma/schema-engine-wasm/schema_engine_bg'

/** Every file that readAsset reads, but for the two that the bundle has itself. */
async function listFiles(): Promise<Bundle['assets']> {
  return {
    ...Object.fromEntries((await listAssetFiles()).map((path) => [path, top + path])),
    [`node_modules/${schemaEngine}.wasm`]: fileURLToPath(
      new URL('schema_engine_bg.wasm', import.meta.resolve(schemaEngine)),
    ),
  }
}

async function listMigrations(app: string | null): Promise<Bundle['assets']> {
  if (app === null) return {}
  const folder = resolve(app, 'migrations')
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return Object.fromEntries(
    names
      .filter((name) => name.endsWith('.sql'))
      .map((name) => [`${containedFolder}/migrations/${name}`, resolve(folder, name)]),
  )
}

/**
 * Prisma's query compiler is base64 in a module, 2 MB of source that V8 would keep in memory. In the
 * binary and in the package it is an asset.
 */
export function withQueryCompiler(): { plugin: Plugin; wasm(): Uint8Array | null } {
  let found: Uint8Array | null = null
  const plugin: Plugin = {
    name: 'with-query-compiler',
    setup({ onLoad }) {
      onLoad({ filter: /\.wasm-base64\.mjs$/ }, async ({ path }) => {
        // A client that an app has generated has its own, which may be of another version.
        if (!path.startsWith(`${top}node_modules/`)) return null
        const { wasm } = await import(path)
        found = Buffer.from(wasm, 'base64')
        return {
          contents: `import { readAsset } from '#src/runtime/assets.ts'
            export const wasm = await readAsset('${queryCompiler}')`,
          resolveDir: top,
        }
      })
    },
  }
  return { plugin, wasm: () => found }
}

/** What the scripts of the package begin with: CommonJS packages load Node's modules with `require`. */
export const scriptBanner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/**
 * In the scripts of the package CommonJS loads its dependencies at run time. Here they become part of the bundle, as
 * what is imported does.
 */
function withRequired(): Plugin {
  return {
    name: 'with-required',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) => {
        if (!path.startsWith(dirname(made.program))) return null
        const script = await readFile(path, 'utf8')
        const contents = script
          .replace(scriptBanner, '')
          .replaceAll(/\b__require\d*\(("[^"]+")\)/g, 'require($1)')
        return { contents }
      })
    },
  }
}

/**
 * Optional packages are never bundled, so that the binary does not depend on what is installed on
 * the build machine, and never loaded from outside the binary.
 */
export function withoutOptional(): Plugin {
  const namespace = 'absent'
  const contents = "throw Object.assign(new Error('absent'), { code: 'MODULE_NOT_FOUND' })"
  return {
    name: 'without-optional',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(pg-native|supports-color)$/ }, ({ path }) => ({ path, namespace }))
      onLoad({ filter: /./, namespace }, () => ({ contents }))
    },
  }
}
