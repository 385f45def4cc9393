import { fileURLToPath } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'
import { listAssets } from '#src/runtime/assets.ts'

/** The folder that package.json is in, with a slash at its end. */
export const top = fileURLToPath(new URL('../..', import.meta.url))

/** Where the binary finds Prisma's query compiler among its assets; written there by the build. */
export const queryCompiler = 'dist/query-compiler.wasm'

export type Bundle = {
  /** The whole program as one module. */
  code: string
  /** esbuild's account of what is in it; paths are relative to the top folder. */
  metafile: Metafile
  /** Files that go in beside it, by their path from the top folder. */
  assets: string[]
  /** What has to lie at `queryCompiler` then. */
  queryCompilerWasm: Uint8Array
}

/**
 * The program without the demo, in one module.
 * @param readable with white space, and before each part the name of its file
 */
export async function bundleProgram({ readable = false } = {}): Promise<Bundle> {
  let queryCompilerWasm: Uint8Array = new Uint8Array()
  const { outputFiles, metafile } = await build({
    absWorkingDir: top, // what it writes does not depend on where it was started
    entryPoints: [`${top}src/cli.ts`],
    outfile: `${top}dist/gatehouse.mjs`,
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    minifySyntax: true,
    minifyWhitespace: !readable,
    keepNames: true,
    legalComments: 'none', // dist/THIRD-PARTY-NOTICES has them
    logLevel: 'error',
    // Packages of the CommonJS kind ask for Node's own modules by `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(process.execPath);",
    },
    plugins: [
      withQueryCompiler((wasm) => {
        queryCompilerWasm = wasm
      }),
      withoutDemo(),
      withoutOptional(),
    ],
  })
  const code = inAscii(outputFiles[0]?.text ?? '')
  return { code, metafile, assets: await listFiles(), queryCompilerWasm }
}

/**
 * V8 keeps a text in which one character is not Latin-1 at twice the size. esbuild escapes all but
 * those of tagged templates and regular expressions; there the escape means the same, unless a
 * tag reads the raw text.
 */
function inAscii(code: string): string {
  return code.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Everything that readAsset is asked for. */
async function listFiles(): Promise<string[]> {
  return [
    ...(await listAssets('prisma/migrations')).filter((path) => path.endsWith('.sql')),
    ...(await listAssets('src/pages')).filter((path) => /\.(css|js|svg)$/.test(path)),
    'node_modules/@prisma/schema-engine-wasm/schema_engine_bg.wasm',
    queryCompiler,
  ]
}

/**
 * Prisma's query compiler comes as base64 in a module, 2 MB of code that V8 would keep for good; in
 * the binary it is an asset.
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

/**
 * Packages that others ask for in case they are there. Here they never are: what a machine that
 * builds happens to have does not decide what is in the binary, and nothing is looked for beside it.
 */
function withoutOptional(): Plugin {
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
