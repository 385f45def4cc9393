import type { ProviderMetadata } from '#src/auth/oidc/discovery.ts'

const waitMs = 500

/**
 * Where to send the browser to end the session at the provider as well (OpenID Connect RP-Initiated
 * Logout 1.0, 2). Without `id_token_hint`: the id_token is not kept (specification 12), so the
 * provider may ask the person to confirm.
 *
 * Nothing waits for the provider: what is not known within half a second is not offered.
 * @returns null when the provider has no such endpoint or cannot be asked now
 */
export async function endSessionUrl(
  metadata: Promise<ProviderMetadata>,
  request: { clientId: string; returnUri: string; state: string },
): Promise<URL | null> {
  const known = await withinLimit(metadata)
  if (known?.end_session_endpoint === undefined) return null
  const url = new URL(known.end_session_endpoint)
  url.searchParams.set('client_id', request.clientId)
  url.searchParams.set('post_logout_redirect_uri', request.returnUri)
  url.searchParams.set('state', request.state)
  return url
}

async function withinLimit(metadata: Promise<ProviderMetadata>): Promise<ProviderMetadata | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, waitMs, null)
  try {
    return await Promise.race([metadata.catch(() => null), late])
  } finally {
    clearTimeout(timer)
  }
}
