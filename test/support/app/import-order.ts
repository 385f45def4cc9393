import { glob, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'

/**
 * The folders and entry files of the program, from the top down. A file may import its own folder
 * and every row below, never another folder of its own row or a row above. The clients of the API are
 * packages of their own: only the rows above may use them, and they import nothing of the program.
 */
export const importOrder: readonly (readonly string[])[] = [
  ['dev'],
  ['cli', 'package'],
  ['commands'],
  ['clients'],
  ['server'],
  ['app'],
  ['server-options'],
  ['plugins', 'routes', 'worker'],
  ['pages'],
  ['ledger'],
  ['billing'],
  ['teams'],
  ['rows'],
  ['auth', 'webhooks', 'schema'],
  ['actions'],
  ['queue', 'audit'],
  ['operations'],
  ['db', 'mail'],
  ['access', 'observability'],
  ['resources'],
  ['config', 'http'],
  ['runtime', 'crypto'],
]

/** The same order for the folders inside a room, by its path. */
export const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'src/db': [
    ['cause.ts', 'idempotency.ts', 'quota.ts', 'tracing.ts'],
    ['database.ts', 'advisory-lock.ts'],
    ['one-packet.ts', 'transactions.ts'],
    ['work.ts'],
    ['entry.ts'],
    ['system-database.ts'],
    ['sql.ts', 'keyset.ts'],
    ['connections'],
    ['errors.ts', 'timeouts.ts'],
  ],
  'src/schema': [
    ['migrate.ts', 'verification'],
    ['migrations', 'roles.ts'],
    ['citus'],
    ['define.ts'],
    ['differences.ts'],
    ['record.ts'],
    ['resource-tables.ts'],
    ['app-tables', 'definitions.ts', 'lock-retry.ts', 'member-roles.ts', 'unreachable.ts'],
    ['catalogue.ts', 'finding.ts', 'statements.ts', 'tables.ts'],
  ],
  'src/config': [
    ['secret-files.ts', 'same-site.ts'],
    ['config.ts'],
    ['audiences.ts'],
    [
      'allowed-origins.ts',
      'app-webhook.ts',
      'billing.ts',
      'brand.ts',
      'documentation.ts',
      'providers',
      'proxies.ts',
    ],
    ['contrast.ts', 'parse.ts'],
    ['settings.ts'],
  ],
  'src/webhooks': [
    ['probe'],
    ['delivery'],
    ['history'],
    ['endpoints'],
    ['events', 'health'],
    ['client', 'signing', 'schedule', 'checks'],
  ],
  'src/pages': [
    ['docs', 'operations', 'tenant', 'resources', 'webhooks'],
    ['billing', 'tokens'],
    ['account'],
    ['sign-in'],
    ['kit'],
  ],
  'src/http': [
    ['openapi', 'validation.ts', 'public-document.ts'],
    ['lists'],
    ['fields.ts'],
    ['schemas.ts'],
    ['params.ts'],
    ['problems.ts'],
    [
      'form-draft.ts',
      'headers',
      'rate-limit-store.ts',
      'request-body.ts',
      'return-path.ts',
      'times.ts',
      'unroutable.ts',
    ],
  ],
  'src/commands': [
    ['documentation.ts'],
    ['program.ts'],
    ['completion.ts'],
    ['serve', 'setup', 'development'],
    ['database', 'keys', 'webhooks', 'billing', 'tenants', 'app'],
    ['api'],
    ['kit'],
  ],
}

/** A forbidden import, and what forbids it. */
export type Breach = { file: string; imported: string; reason: string }

/** Every forbidden import of a checkout. */
export async function findBreaches(root: string): Promise<Breach[]> {
  return breachesOf(await readSources(root))
}

/** The texts of a checkout by their paths. */
export async function readSources(root: string): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {}
  for await (const path of glob('{src,plugins,routes,dev,clients}/**/*.ts', { cwd: root })) {
    const file = path.replaceAll('\\', '/')
    files[file] = await readFile(join(root, file), 'utf8')
  }
  return files
}

/** The files that a process loads with `entry`: those that it imports, except for types and at run time. */
export function loadedWith(files: Readonly<Record<string, string>>, entry: string): Set<string> {
  const loaded = new Set([entry])
  for (const file of loaded) {
    const text = (files[file] ?? '').replaceAll(/^(?:import|export) type\b[^']*'[^']*'/gm, '')
    for (const imported of importsOf(file, text.replaceAll(/\bimport\(/g, ''))) loaded.add(imported)
  }
  return loaded
}

/** @param files the text of each file by its path from the top folder */
export function breachesOf(files: Readonly<Record<string, string>>): Breach[] {
  return Object.entries(files)
    .filter(([file]) => !isGenerated(file))
    .flatMap(([file, text]) =>
      importsOf(file, text).flatMap((imported) => {
        const reason = reasonAgainst(file, imported)
        return reason === null ? [] : [{ file, imported, reason }]
      }),
    )
}

/** The project's own files that a text imports: values, types, re-exports and at run time. */
function importsOf(file: string, text: string): string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([#.][^']*)'/g)
  return [...found]
    .map(([, specifier = '']) =>
      specifier.startsWith('#')
        ? specifier.slice(1)
        : posix.normalize(posix.join(posix.dirname(file), specifier)),
    )
    .filter((path) => !isGenerated(path) && !path.endsWith('.css'))
}

function reasonAgainst(file: string, imported: string): string | null {
  const [from, to] = [roomOf(file), roomOf(imported)]
  if (from === 'clients' && to !== from) return 'a client imports nothing of the program'
  if (from !== to) return reasonAgainstRows(importOrder, from, to)
  return reasonAgainstFloor(file, imported) ?? reasonAgainstNeighbour(file, imported)
}

function reasonAgainstFloor(file: string, imported: string): string | null {
  const room = posix.join(...file.split('/').slice(0, 2))
  const order = floors[room]
  if (order === undefined) return null
  const [from, to] = [folderIn(room, file), folderIn(room, imported)]
  return from === to ? null : reasonAgainstRows(order, from, to)
}

function reasonAgainstRows(
  order: readonly (readonly string[])[],
  from: string,
  to: string,
): string | null {
  const [above, below] = [from, to].map((name) => order.findIndex((row) => row.includes(name)))
  if (above === undefined || above === -1) return `${from} is not in the import order`
  if (below === undefined || below === -1) return `${to} is not in the import order`
  return above < below ? null : `${from} is not above ${to}`
}

/** The folder of a file inside its room; in the room itself the file. */
function folderIn(room: string, path: string): string {
  return posix.relative(room, path).split('/')[0] ?? ''
}

/** Plugins and routes are composed in src/app.ts; only the index of a route folder names its routes. */
function reasonAgainstNeighbour(file: string, imported: string): string | null {
  const room = roomOf(file)
  if (room !== 'plugins' && room !== 'routes') return null
  const isIndex = posix.basename(file) === 'index.ts'
  if (isIndex && imported.startsWith(`${posix.dirname(file)}/`)) return null
  return `${room} do not import each other`
}

/** The folder of a file; in the root of `src` the file itself. */
function roomOf(path: string): string {
  const [top = '', second = '', ...rest] = path.split('/')
  if (top !== 'src') return top
  return rest.length === 0 ? posix.basename(second, '.ts') : second
}

/** Generated code counts as a package. */
function isGenerated(path: string): boolean {
  return /^(src\/db|clients\/typescript\/src)\/generated\//.test(path)
}
