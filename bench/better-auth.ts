import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Read } from './orders.ts'
import type { Place } from './place.ts'
import { runNode } from './processes.ts'

const folder = new URL('./baselines/better-auth/', import.meta.url)

/** Creates better-auth's database, users and orders, and generates its client. */
export async function prepareBetterAuth(place: Place): Promise<{ url: string; reads: Read[] }> {
  const schema = fileURLToPath(new URL('schema.prisma', folder))
  const prisma = fileURLToPath(import.meta.resolve('prisma/build/index.js'))
  await runNode(prisma, ['generate', `--schema=${schema}`])
  const tables = await readFile(new URL('tables.sql', folder), 'utf8')
  const superuserUrl = await place.createDatabase('better_auth', [tables])
  const url = new URL(place.url)
  url.pathname = new URL(superuserUrl).pathname
  const people = fileURLToPath(new URL('people.ts', folder))
  const out = await runNode(people, [], { DATABASE_URL: url.href })
  return { url: url.href, reads: JSON.parse(out) }
}
