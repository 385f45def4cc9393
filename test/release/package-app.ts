import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { logins, type Urls, urlsOf } from '#dev/testing/logins.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { version } from '#src/runtime/assets.ts'
import { production } from '#test/support/app/production.ts'
import { addresses, runProgram, temporaryFolder } from '#test/support/processes/program.ts'

export const top = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the package of a tree of this repository. @returns the file that npm installs */
export function buildPackage(tree: string): string {
  execFileSync(process.execPath, [join(tree, 'dev/release/package.ts')], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return join(tree, `dist/gatehouse-${version}.tgz`)
}

/** A folder with the app of test/release/package-app, and nothing installed. */
export async function makeApp(t: Test): Promise<string> {
  const folder = await temporaryFolder(t)
  await cp(join(top, 'test/release/package-app'), folder, { recursive: true })
  const manifest = { name: 'notes', private: true, type: 'module' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  return folder
}

/**
 * Puts the package into the app's node_modules, as `npm install --omit=dev` does: with links to what it depends on,
 * and nothing else.
 */
export async function install(folder: string, archive: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  await rm(modules, { recursive: true, force: true })
  await mkdir(join(modules, 'gatehouse'), { recursive: true })
  const into = ['--directory', join(modules, 'gatehouse'), '--strip-components=1']
  execFileSync('tar', ['--extract', '--gzip', '--file', archive, ...into])
  const manifest = await readFile(join(modules, 'gatehouse/package.json'), 'utf8')
  for (const name of Object.keys(JSON.parse(manifest).dependencies)) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(top, 'node_modules', name), join(modules, name))
  }
}

/** Runs the installed program in the folder of the app. */
export function runInstalled(
  t: Test,
  folder: string,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const entry = join(folder, 'node_modules/gatehouse/dist/js/cli.js')
  return runProgram(t, args, env, { cwd: folder, entry })
}

/** An empty database, and the settings of a production installation on it. */
export async function emptyDatabase() {
  const clusterUrl = String(process.env.TEST_POSTGRES_URL)
  const name = `test_package_${randomBytes(6).toString('hex')}`
  await createOwnerAndDatabase(clusterUrl, logins.owner, name)
  const urls = urlsOf(clusterUrl, name)
  return { urls, env: { ...production(urls), DATABASE_OWNER_URL: urls.ownerUrl } }
}

/** Inserts a token of a member of the seeded database who may write. */
export async function addToken({ superuserUrl }: Urls): Promise<string> {
  const token = randomApiToken()
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  await client.query(
    `INSERT INTO api_tokens (last_four, user_id, tenant_id, name, hash, all_permissions, expires_at)
     SELECT 'test', user_id, tenant_id, 'a test', $1, true, now() + interval '1 day'
     FROM memberships WHERE role = 'admin' ORDER BY user_id LIMIT 1`,
    [sha256(sha256(token))],
  )
  await client.end()
  return token
}

/** Starts the server. `send` resolves with the status and the body of the answer. */
export async function serve(
  t: Test,
  folder: string,
  { env, token }: { env: Record<string, string>; token: string },
) {
  const program = await runInstalled(t, folder, ['serve'], env)
  const { address } = await addresses(program)
  return {
    address,
    async send(method: 'GET' | 'POST', path: string, body?: object) {
      const response = await fetch(address + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    /** @returns its exit status */
    stop() {
      program.child.kill('SIGTERM')
      return program.ended
    },
  }
}
