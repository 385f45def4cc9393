import { type Config, ConfigError } from './config.ts'

/**
 * Requires APP_ORIGINS of the same site as BASE_URL, as browsers define it (HTML standard, schemefully same
 * site): to any other origin they send no cookie that is `SameSite=Lax`.
 * @throws ConfigError
 */
export async function requireSameSite({
  appOrigins,
  baseUrl,
}: Pick<Config, 'appOrigins' | 'baseUrl'>): Promise<void> {
  if (appOrigins.length === 0) return
  const { getDomain } = await import('tldts') // the Public Suffix List takes 10 MB
  /** The registrable domain; the host itself if it has none, as an address. */
  const siteOf = ({ hostname }: URL) =>
    getDomain(hostname, { allowPrivateDomains: true }) ?? hostname
  const own = siteOf(new URL(baseUrl))
  const faults = appOrigins.flatMap((origin) => {
    const site = siteOf(new URL(origin))
    if (site === own) return []
    return [
      `APP_ORIGINS: “${origin}” is of the site ${site}, but BASE_URL is of the site ${own}, and browsers send the session cookie only within a site. Use CORS_ORIGINS and API tokens, or serve both under one domain.`,
    ]
  })
  if (faults.length > 0) throw new ConfigError(faults)
}
