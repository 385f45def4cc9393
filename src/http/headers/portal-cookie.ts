/**
 * The cookie of a portal session. `__Host-`: a browser takes it only with Secure, for all paths and without
 * Domain, so no other host can plant one. Chromium takes it from http on loopback too.
 */
export const portalCookie = '__Host-portal'

/** What its value says: the secret of the session, and the theme that the link was opened with. */
export type PortalCookie = { readonly secret: string; readonly theme: Theme | null }

export const themes = ['light', 'dark'] as const
export type Theme = (typeof themes)[number]

const form = /^(?<secret>[\w-]{43})(?:\.(?<theme>light|dark))?$/

/** @returns null for anything that is not a value of ours by its form */
export function readPortalCookie(value: string | undefined): PortalCookie | null {
  const { secret, theme } = form.exec(value ?? '')?.groups ?? {}
  if (secret === undefined) return null
  return { secret, theme: themes.find((one) => one === theme) ?? null }
}

export function portalCookieValue({ secret, theme }: PortalCookie): string {
  return theme === null ? secret : `${secret}.${theme}`
}
