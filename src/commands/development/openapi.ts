import { buildApp } from '#src/app.ts'
import { readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { ApiDescription } from '#src/http/openapi/examples.ts'
import { createLogger } from '#src/observability/logger.ts'
import { printJson } from '../kit/output.ts'

/** `gatehouse openapi`: prints the API description. */
export default async function openapiCommand(env: Environment): Promise<void> {
  printJson(await describeApi(env))
}

/** The API description of this program, without connecting to anything. */
export async function describeApi(env: Environment): Promise<ApiDescription> {
  const app = await buildPlaceholder(env)
  try {
    await app.ready()
    return app.describeApi()
  } finally {
    await app.close()
  }
}

/** The server of this program, which connects to nothing. */
export async function buildPlaceholder(env: Environment) {
  return buildApp(placeholderConfig(env), createLogger('silent'), undefined, undefined, {
    connect: false,
  })
}

/** Only BASE_URL appears in the description; the other settings are required but unused. */
function placeholderConfig({ BASE_URL }: Environment) {
  return readConfig({
    BASE_URL: BASE_URL || 'http://localhost:3000',
    DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:9/none',
    SESSION_SECRETS: randomToken(),
    BILLING_WEBHOOK_SECRETS: randomToken(),
    ENCRYPTION_KEYS: `none:${randomToken()}`,
    OIDC_PROVIDERS: 'none',
    OIDC_NONE_ISSUER: 'https://issuer.invalid',
    OIDC_NONE_CLIENT_ID: 'none',
    OIDC_NONE_CLIENT_SECRET: 'none',
  })
}
