import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { heapFlags } from '#src/runtime/process/heap.ts'
import { type Bundle, checkThread, queryCompiler } from './bundle.ts'

/**
 * Writes a bundled program as one file with Node in it. What it is made of is in a folder beside it meanwhile.
 * @param binary the absolute path of the file
 * @param print gets what the developer should know
 * @throws Error if Node cannot build it
 */
export async function writeBinary(
  { code, assets, queryCompilerWasm, threadCode }: Bundle,
  binary: string,
  print: (line: string) => void,
): Promise<void> {
  const parts = `${binary}.parts`
  await mkdir(parts, { recursive: true })
  try {
    await writeFile(`${parts}/main.mjs`, code)
    await writeFile(`${parts}/query-compiler.wasm`, queryCompilerWasm)
    await writeFile(`${parts}/check-thread.js`, threadCode)
    await writeFile(
      `${parts}/sea.json`,
      JSON.stringify({
        main: `${parts}/main.mjs`,
        mainFormat: 'module',
        executable: await stripped(`${parts}/node`, print),
        output: binary,
        disableExperimentalSEAWarning: true,
        useCodeCache: false,
        execArgv: heapFlags,
        assets: {
          ...assets,
          [queryCompiler]: `${parts}/query-compiler.wasm`,
          [checkThread]: `${parts}/check-thread.js`,
        },
      }),
    )
    // A running binary cannot be overwritten, but it can be replaced.
    await rm(binary, { force: true })
    const { status } = spawnSync(process.execPath, [`--build-sea=${parts}/sea.json`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error('The binary could not be built.')
    await chmod(binary, 0o755)
  } finally {
    await rm(parts, { recursive: true })
  }
}

/**
 * A copy of Node without its symbols, a third of its size. They only name functions in native stack traces.
 * @returns Node itself where binutils are missing, or Node is signed
 */
async function stripped(copy: string, print: (line: string) => void): Promise<string> {
  if (process.platform !== 'linux') return process.execPath // elsewhere Node is signed
  await copyFile(process.execPath, copy)
  const { status } = spawnSync('strip', ['--strip-all', copy])
  if (status === 0) return copy
  print('Without strip (binutils) the file is 50 MB larger.')
  return process.execPath
}
