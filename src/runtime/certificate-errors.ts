const codes: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** What an operator does about a certificate that is not trusted. */
export const certificateRemedy =
  'If an authority of your own signed it, name its PEM file in NODE_EXTRA_CA_CERTS and start again; otherwise renew it, or use the name that it is for.'

/**
 * Whether a TLS handshake ended because the certificate of the other side is not trusted: it was reached.
 * @param error of a socket, of `fetch` (in `cause`) or of nodemailer (in `originalCode`)
 */
export function isUntrustedCertificate(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const found = ['code' in error && error.code, 'originalCode' in error && error.originalCode].some(
    (code) => typeof code === 'string' && codes.has(code),
  )
  return found || isUntrustedCertificate(error.cause)
}
