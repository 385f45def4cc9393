import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken } from '#src/crypto/digest.ts'

export type Secrets = Record<'session' | 'billing' | 'client' | 'owner' | 'app' | 'worker', string>

/** The demo's random secrets, made once and kept for its owner's eyes in `folder`. */
export async function readSecrets(folder: string): Promise<Secrets> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'secrets.json')
  try {
    const secrets: Secrets = JSON.parse(await readFile(file, 'utf8'))
    return secrets
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    const secrets: Secrets = {
      session: randomToken(),
      billing: `whsec_${randomToken()}`,
      client: randomToken(),
      owner: randomToken(),
      app: randomToken(),
      worker: randomToken(),
    }
    await writeFile(file, JSON.stringify(secrets, null, 2), { mode: 0o600 })
    return secrets
  }
}
