import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { createServer } from 'node:http'

const { GATEHOUSE_URL: issuer, IDENTITY_AUDIENCE: audience, PORT: port } = process.env
const keysMs = 300_000 // then a key that was withdrawn is no longer believed
const againMs = 1_000 // for a key that is not known
const leewaySeconds = 5 // between the clocks

let keys = new Map()
let fetchedAt = Number.NEGATIVE_INFINITY
let triedAt = Number.NEGATIVE_INFINITY
let fetching

async function fetchKeys() {
  const signal = AbortSignal.timeout(5_000)
  const response = await fetch(`${issuer}/.well-known/jwks.json`, { signal })
  const found = (await response.json()).keys.filter(({ crv }) => crv === 'Ed25519')
  keys = new Map(found.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]))
  fetchedAt = performance.now()
}

async function findKey(kid) {
  const now = performance.now()
  const isMissing = !keys.has(kid) || now - fetchedAt > keysMs
  if (isMissing && now - triedAt > againMs) {
    triedAt = now
    fetching = fetchKeys().catch(() => {}) // the keys that are known stay
  }
  if (isMissing) await fetching
  return performance.now() - fetchedAt > keysMs ? undefined : keys.get(kid)
}

/** The claims of a valid identity token; null for anything else. */
async function verify(token) {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
  const [head, body, signature] = token.split('.').map((part) => Buffer.from(part, 'base64url'))
  const signed = token.slice(0, token.lastIndexOf('.'))
  try {
    const { alg, kid } = JSON.parse(head)
    const key = alg === 'EdDSA' ? await findKey(kid) : undefined
    if (!key || !verifySignature(null, Buffer.from(signed), key, signature)) return null
    const claims = JSON.parse(body)
    const isOurs = claims.iss === issuer && claims.aud === audience
    return isOurs && Date.now() / 1_000 < claims.exp + leewaySeconds ? claims : null
  } catch {
    return null
  }
}

createServer(async (request, response) => {
  const claims = await verify(request.headers['gatehouse-identity'] ?? '')
  response.statusCode = claims === null ? 401 : 200
  response.end(claims === null ? 'who are you?\n' : `${claims.sub} of ${claims.tenant}\n`)
}).listen(Number(port), '127.0.0.1')
