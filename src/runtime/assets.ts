import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

/**
 * Reads a file that the program needs at run time, such as a migration, a page's asset or
 * WebAssembly. The single binary contains these files (dev/release/binary.ts), and so does the package
 * (dev/release/package.ts).
 * @param path relative to the folder of package.json; or absolute, of the app
 */
export async function readAsset(path: string): Promise<Uint8Array> {
  return isSea() ? new Uint8Array(getRawAsset(path)) : readFile(inCheckout(path))
}

/**
 * Reads the file beside a module of a package, wherever npm has put the package.
 * @param module as it is imported
 */
export async function readBeside(module: string, name: string): Promise<Uint8Array> {
  return readAsset(
    isSea()
      ? `node_modules/${dirname(module)}/${name}`
      : fileURLToPath(new URL(name, import.meta.resolve(module))),
  )
}

export async function readTextAsset(path: string): Promise<string> {
  return new TextDecoder().decode(await readAsset(path))
}

/** Reads a small file once, where waiting is not possible. */
export function readTextAssetSync(path: string): string {
  return isSea()
    ? new TextDecoder().decode(getRawAsset(path))
    : readFileSync(inCheckout(path), 'utf8')
}

/** The paths of all assets below a folder, sorted; none if there is no such folder. */
export async function listAssets(folder: string): Promise<string[]> {
  const paths = isSea() ? getAssetKeys() : await listCheckout(folder)
  return paths.filter((path) => path.startsWith(`${folder}/`)).sort()
}

async function listCheckout(folder: string): Promise<string[]> {
  const names = await readdir(inCheckout(folder), { recursive: true }).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.map((name) => `${folder}/${name}`)
}

/** The folder of package.json: of the checkout or of the installed package. */
export const programFolder = fileURLToPath(new URL('../..', import.meta.url))

function inCheckout(path: string): string {
  return resolve(programFolder, path)
}

/**
 * The version in package.json, which the single binary does not contain (test/cli.test.ts
 * compares).
 */
export const version = '0.1.0'
