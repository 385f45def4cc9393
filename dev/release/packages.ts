import { glob, readdir, readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { type Bundle, top } from './bundle.ts'

/** A package that is part of the binary. */
export type Package = {
  name: string
  version: string
  /** SPDX expression from its package.json. */
  license: string
  /** The full text of its licence and notice files. */
  texts: readonly string[]
}

/** Licences that allow distribution if their texts are included. */
const allowed = [
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
]

const Manifest = Type.Object({
  name: Type.String(),
  version: Type.String(),
  license: Type.Optional(Type.String()),
  author: Type.Optional(Type.Unknown()),
})

/**
 * The packages with at least one byte in the bundle or its assets, sorted by name. Two versions of
 * a package are two entries.
 * @throws Error naming the packages whose licence is not allowed
 */
export async function findPackages({
  metafile,
  assets,
}: Pick<Bundle, 'metafile' | 'assets'>): Promise<Package[]> {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput)
  const files = [...used.map(([path]) => resolve(top, path)), ...Object.values(assets)]
  const folders = new Set(files.flatMap((file) => folderOf(file) ?? []))
  const found = await Promise.all([...folders].map(readPackage))
  const unique = new Map(found.map((one) => [`${one.name}@${one.version}`, one]))
  const packages = [...unique]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, one]) => one)
  refuseLicences(packages)
  return packages.map((one) => ({ ...one, texts: completeTexts(one, packages) }))
}

/** Node, which the binary contains: its version and licence. */
export async function findRuntime(): Promise<Package> {
  const texts: string[] = []
  for await (const path of glob('node_modules/node/node_modules/node-*/LICENSE', { cwd: top })) {
    texts.push(await readFile(top + path, 'utf8'))
  }
  if (texts.length === 0)
    throw new Error(
      'Node’s LICENSE is missing in node_modules (`npm install` prunes it): run npm ci.',
    )
  return { name: 'node', version: process.versions.node, license: 'MIT', texts }
}

/** @throws Error naming every package whose licence is not in the list */
export function refuseLicences(packages: readonly Pick<Package, 'name' | 'license'>[]): void {
  const refused = packages.filter(({ license }) => !allowed.includes(license))
  if (refused.length === 0) return
  const names = refused.map(({ name, license }) => `${name} (${license || 'none'})`).join(', ')
  throw new Error(`Licences that are not allowed (dev/release/packages.ts): ${names}.`)
}

function folderOf(file: string): string | null {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null
}

type Found = Package & { author: string }

async function readPackage(folder: string): Promise<Found> {
  const manifest: unknown = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
  if (!Value.Check(Manifest, manifest)) throw new Error(`${folder} has no valid package.json.`)
  const { name, version, license = '', author } = manifest
  const texts = await readTexts(folder)
  if (texts.length === 0) texts.push(...(await readReadme(folder)))
  return { name, version, license, texts, author: nameOf(author) }
}

async function readTexts(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  const texts = await Promise.all(names.map((name) => readAll(`${folder}/${name}`)))
  return texts.flat()
}

/** The text of a file, or of all files in a folder (LICENSES). */
async function readAll(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [await readFile(path, 'utf8')]
  const texts = await Promise.all(
    (await readdir(path)).sort().map((name) => readAll(`${path}/${name}`)),
  )
  return texts.flat()
}

/** Some packages have their licence at the end of the README. */
async function readReadme(folder: string): Promise<string[]> {
  const text = await readFile(`${folder}/README.md`, 'utf8').catch(() => '')
  const [, license] = /^#+ *licen[cs]e\s*$([\s\S]*)/im.exec(text) ?? []
  return license?.includes('Permission is hereby granted') ? [license] : []
}

/** A package without a text gets the text of another package with the same licence and its own author. */
function completeTexts({ texts, license, author }: Found, packages: readonly Package[]) {
  if (texts.length > 0) return texts
  const [text] =
    packages.find((one) => one.license === license && one.texts.length > 0)?.texts ?? []
  if (text === undefined) throw new Error(`No package has the text of the licence ${license}.`)
  const grant = Math.max(text.indexOf('Permission is hereby granted'), 0)
  return [`Copyright (c) ${author}\n\n${text.slice(grant)}`]
}

function nameOf(author: unknown): string {
  if (typeof author === 'string') return author
  const named = Type.Object({ name: Type.String() })
  return Value.Check(named, author) ? author.name : 'its authors'
}
