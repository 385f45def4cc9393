import { execFileSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { top } from './bundle.ts'

/**
 * Writes declarations of what the entries mention, below the paths of the sources. The package's `imports` lead there.
 * @param types the folder
 */
export async function writeTypes(entries: readonly string[], types: string): Promise<void> {
  const config = `${top}dist/tsconfig.package-${process.pid}.json`
  const compilerOptions = {
    noEmit: false,
    incremental: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: types,
    rootDir: top,
    tsBuildInfoFile: null,
  }
  const files = [...entries, 'src/app.ts', 'dev/demo/oidc-provider.d.ts'].map((path) => top + path)
  await writeFile(
    config,
    JSON.stringify({ extends: '../tsconfig.json', compilerOptions, files, include: [] }),
  )
  execFileSync(process.execPath, [`${top}node_modules/typescript/bin/tsc`, '--project', config], {
    stdio: 'inherit',
  })
  await rm(config)
  await addTypesOfPrisma(types)
  await addDecorations(types)
}

/** What plugins add to Fastify's types: routes of an app have it, without importing the plugins. */
async function addDecorations(types: string): Promise<void> {
  const references: string[] = []
  for (const name of (await readdir(types, { recursive: true })).sort()) {
    if (!/^(plugins|src)\/.*\.d\.ts$/.test(name)) continue
    const text = await readFile(`${types}/${name}`, 'utf8')
    if (!/^declare module 'fastify'/m.test(text)) continue
    references.push(`/// <reference path="../../${name}" />\n`)
  }
  const routes = `${types}/src/package/routes.d.ts`
  await writeFile(routes, references.join('') + (await readFile(routes, 'utf8')))
}

/** The types of Prisma's client, as the package does not depend on it. */
async function addTypesOfPrisma(types: string): Promise<void> {
  const own = {
    '@prisma/client/runtime/client': '#prisma/client',
    '@prisma/client-runtime-utils': '#prisma/utils',
  }
  await mkdir(`${types}/prisma`, { recursive: true })
  await cp(`${top}node_modules/@prisma/client/runtime/client.d.ts`, `${types}/prisma/client.d.ts`)
  await cp(
    `${top}node_modules/@prisma/client-runtime-utils/dist/index.d.ts`,
    `${types}/prisma/utils.d.ts`,
  )
  for (const name of await readdir(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue
    const text = await readFile(`${types}/${name}`, 'utf8')
    const changed = Object.entries(own).reduce(
      (text, [from, to]) => text.replaceAll(new RegExp(`(['"])${from}\\1`, 'g'), `'${to}'`),
      text,
    )
    if (changed !== text) await writeFile(`${types}/${name}`, changed)
  }
}
