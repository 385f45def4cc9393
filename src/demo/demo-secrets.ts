import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { randomToken } from '#src/crypto/hash.ts'
import { newEndpointSecret } from '#src/webhooks/delivery/signature.ts'

const names = [
  'session',
  'billing',
  'client',
  'owner',
  'app',
  'worker',
  'encryption',
  'endpoint',
  'token',
] as const

export type Secrets = Record<(typeof names)[number], string>

/**
 * The demo's random secrets, made once and kept for its owner's eyes in `folder`. A file that an
 * older version wrote keeps what it has and gets what it lacks.
 */
export async function readSecrets(folder: string): Promise<Secrets> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'secrets.json')
  const kept = await readKept(file)
  const secrets: Secrets = { ...makeSecrets(), ...kept }
  if (names.some((name) => kept[name] === undefined)) {
    await writeFile(file, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  }
  return secrets
}

async function readKept(file: string): Promise<Partial<Secrets>> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    return {}
  }
}

function makeSecrets(): Secrets {
  return {
    session: randomToken(),
    billing: `whsec_${randomToken()}`,
    client: randomToken(),
    owner: randomToken(),
    app: randomToken(),
    worker: randomToken(),
    encryption: `demo:${randomToken()}`,
    endpoint: newEndpointSecret(),
    token: randomApiToken(),
  }
}
