import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** For each file of the checkout what it imports, or names by a URL to start or read it; without types. */
export type Imports = ReadonlyMap<string, readonly string[]>

const sources = '{src,plugins,routes,prisma,clients,bench,examples,test}/**/*.{ts,mjs}'

export function readImports(root: string): Imports {
  const files = globSync(sources, { cwd: root, exclude: ['**/node_modules'] })
  return new Map(
    files.map((file) => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]),
  )
}

/** @param file its path from the top folder */
export function importsOf(file: string, text: string): string[] {
  const values = text.replaceAll(/^(?:import|export) type\b[^']*'[^']*'/gm, '')
  const named = values.matchAll(/(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*'([#.][^']*)'/g)
  return [...named].map(([, specifier = '']) =>
    specifier.startsWith('#')
      ? specifier.slice(1)
      : posix.normalize(posix.join(posix.dirname(file), specifier)),
  )
}

/** What a file imports, and what these import, with the file itself. */
export function reachedFrom(imports: Imports, file: string): Set<string> {
  const reached = new Set([file])
  for (const one of reached) for (const next of imports.get(one) ?? []) reached.add(next)
  return reached
}

/** The files that a change affects: how many imports each is away from the nearest changed file. */
export function affectedBy(imports: Imports, changed: readonly string[]): Map<string, number> {
  const importers = new Map<string, string[]>()
  for (const [file, named] of imports) {
    for (const one of named) importers.set(one, [...(importers.get(one) ?? []), file])
  }
  const distances = new Map(changed.map((file) => [file, 0]))
  for (const [file, distance] of distances) {
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}
