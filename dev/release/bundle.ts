import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'
import { listAssets } from '#src/runtime/assets.ts'

/** The folder of package.json, with a trailing slash. */
export const top = fileURLToPath(new URL('../..', import.meta.url))

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
  let queryCompilerWasm: Uint8Array = new Uint8Array()
  const shared = {
    absWorkingDir: top, // makes the output independent of the current folder
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node26',
    minifySyntax: true,
    minifyWhitespace: !readable,
    keepNames: true,
    legalComments: 'none', // see dist/THIRD-PARTY-NOTICES
    logLevel: 'error',
  } as const
  const thread = await build({
    ...shared,
    entryPoints: [`${top}src/webhooks/checks/thread.ts`],
    format: 'cjs',
  })
  const { outputFiles, metafile } = await build({
    ...shared,
    entryPoints: [`${top}src/cli.ts`],
    outfile: `${top}dist/gatehouse.mjs`,
    metafile: true,
    format: 'esm',
    // CommonJS packages load Node's modules with `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(process.execPath);",
    },
    alias: {
      'gatehouse/routes': `${top}src/package/routes.ts`,
      gatehouse: `${top}src/package/index.ts`,
    },
    plugins: [
      withApp(app),
      withQueryCompiler((wasm) => {
        queryCompilerWasm = wasm
      }),
      withoutOptional(),
    ],
  })
  const code = inAscii(outputFiles[0]?.text ?? '')
  const threadCode = inAscii(thread.outputFiles[0]?.text ?? '')
  return {
    code,
    metafile,
    assets: { ...(await listFiles()), ...(await listMigrations(app)) },
    queryCompilerWasm,
    threadCode,
  }
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

/** The SQL, and the files of the pages. */
export async function listAssetFiles(): Promise<string[]> {
  return [
    ...(await listAssets('prisma')).filter((path) => path.endsWith('.sql')),
    ...(await listAssets('src/pages')).filter((path) => /\.(css|js|svg)$/.test(path)),
  ]
}

/** Every file that readAsset reads. */
async function listFiles(): Promise<Bundle['assets']> {
  const paths = [
    ...(await listAssetFiles()),
    'node_modules/@prisma/schema-engine-wasm/schema_engine_bg.wasm',
    queryCompiler,
    checkThread,
  ]
  return Object.fromEntries(paths.map((path) => [path, top + path]))
}

/** What the program calls the folder of its app. */
const appFolder = 'app'

async function listMigrations(app: string | null): Promise<Bundle['assets']> {
  if (app === null) return {}
  const folder = resolve(app, 'migrations')
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return Object.fromEntries(
    names
      .filter((name) => name.endsWith('.sql'))
      .map((name) => [`${appFolder}/migrations/${name}`, resolve(folder, name)]),
  )
}

/** Replaces the module that finds the app: the program contains it, or runs none. */
function withApp(app: string | null): Plugin {
  const own =
    app === null
      ? `import { bare } from './define-app.ts'
        export const loadApp = async () => ({ app: bare, folder: null })`
      : `import app from '${resolve(app, 'gatehouse.config.ts')}'
        export const loadApp = async () => ({ app, folder: '${appFolder}' })`
  return {
    name: 'with-app',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/resources\/load-app\.ts$/ }, () => ({
        contents: own,
        loader: 'ts',
        resolveDir: `${top}src/resources`,
      }))
    },
  }
}

/**
 * Prisma's query compiler is base64 in a module, 2 MB of source that V8 would keep in memory. In the
 * binary it is an asset.
 */
function withQueryCompiler(found: (wasm: Uint8Array) => void): Plugin {
  return {
    name: 'with-query-compiler',
    setup({ onLoad }) {
      onLoad({ filter: /\.wasm-base64\.mjs$/ }, async ({ path }) => {
        const { wasm } = await import(path)
        found(Buffer.from(wasm, 'base64'))
        return {
          contents: `import { readAsset } from '#src/runtime/assets.ts'
            export const wasm = await readAsset('${queryCompiler}')`,
          resolveDir: top,
        }
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
