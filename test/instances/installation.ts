import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import tls from 'node:tls'
import type { Browser } from 'playwright-core'
import type { Test } from 'tap'
import { startProvider } from '#dev/demo/provider.ts'
import { addSampleCustomer, startReceiver as startDemoReceiver } from '#dev/demo/receiver.ts'
import type { Urls } from '#dev/testing/logins.ts'
import { type Receiver, startReceiver } from '#dev/testing/receiver.ts'
import { encryptionKey, webhookSecret } from '#dev/testing/settings.ts'
import { sampleEvent } from '#src/billing/sample.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { people } from '#src/commands/development/sample/people.ts'
import { seed } from '#src/commands/development/sample/seed.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { production } from '#test/support/app/production.ts'
import type { Place, Sent } from '#test/support/browser/tour.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { createAuthority } from '#test/support/processes/certificates.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'
import { type Balancer, startBalancer } from './balancer.ts'

const endpointSecret = 'whsec_the_secret_of_the_receiver'
const token = randomApiToken()
const client = { clientId: 'gatehouse', clientSecret: 'a client secret' }
const json = { 'content-type': 'application/json' }
const shippingAddress = {
  name: 'Ada Okafor',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

export type Installation = {
  /** Complete production settings for all processes. */
  env: Record<string, string>
  /** The public URL. */
  balancer: Balancer
  /** A receiver of deliveries. */
  receiver: Receiver
  /** Adds the demo's users, with `prisma/seed.ts` if needed, and Acme's endpoint. */
  furnish(options?: { seeded: boolean }): Promise<void>
  /** Routes browsers to these web processes once they respond. Call `furnish` first. */
  leadTo(origins: readonly string[]): Promise<void>
  /** For the tour. Call `furnish` first. */
  place(browser: Browser): Place
}

/**
 * Everything a production installation needs besides its processes: a load balancer and a provider
 * with a trusted certificate, receivers, and the settings that name them.
 */
export async function prepareInstallation(t: Test, urls: Urls): Promise<Installation> {
  const { ownerUrl } = urls
  const authority = createAuthority(`A test ${crypto.randomUUID()}`)
  const certified = authority.certify({ names: ['localhost'] })
  const authorityFile = join(await temporaryFolder(t), 'authority.pem')
  await writeFile(authorityFile, authority.cert)
  tls.setDefaultCACertificates([...tls.getCACertificates(), authority.cert])

  const balancer = await startBalancer(t, certified)
  const baseUrl = balancer.url
  const front = await startBalancer(t, certified)
  const provider = await startProvider({
    ...client,
    redirectUris: [`${baseUrl}/auth/callback`],
    postLogoutRedirectUris: [`${baseUrl}/auth/signed-out`],
    people,
    port: 0,
    issuer: front.url,
  })
  front.leadTo([provider.address])
  const tourReceiver = await startDemoReceiver({
    secret: endpointSecret,
    port: 0,
    clock: systemClock,
    print() {},
  })
  const receiver = await startReceiver()
  t.teardown(() => Promise.all([provider.stop(), tourReceiver.stop(), receiver.close()]))

  const env = {
    ...withoutProviders(production(urls)),
    BASE_URL: baseUrl,
    NODE_EXTRA_CA_CERTS: authorityFile,
    OIDC_PROVIDERS: 'demo',
    OIDC_DEMO_ISSUER: provider.issuer,
    OIDC_DEMO_CLIENT_ID: client.clientId,
    OIDC_DEMO_CLIENT_SECRET: client.clientSecret,
    OIDC_DEMO_TRUST_EMAIL: 'true',
    OUTBOUND_ALLOW: `${tourReceiver.hostAndPort},127.0.0.1:${receiver.port}`,
  }
  return {
    env,
    balancer,
    receiver,
    async furnish({ seeded } = { seeded: false }) {
      if (!seeded) await seed(ownerUrl, provider.issuer)
      const keys = readEncryptionKeys(encryptionKey, [])
      const { url } = tourReceiver
      await addSampleCustomer(ownerUrl, { keys, url, secret: endpointSecret, token })
    },
    async leadTo(origins) {
      // On a busy machine the first database connection may time out with a 503.
      const headers = { authorization: `Bearer ${token}` }
      for (const origin of origins) {
        await untilTrue(async () => (await fetch(`${origin}/orders/1`, { headers })).ok)
      }
      balancer.leadTo(origins)
    },
    place: (browser) => ({
      baseUrl,
      browser,
      receiver: new URL(tourReceiver.url).origin,
      event: chargeOf('evt_tour', baseUrl),
      change: {
        url: `${baseUrl}/orders/1`,
        headers: { ...json, authorization: `Bearer ${token}` },
        data: JSON.stringify({ shippingAddress }),
      },
    }),
  }
}

function withoutProviders(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('OIDC_')))
}

/** A signed event that charges Ada. */
export function chargeOf(id: string, baseUrl: string): Sent {
  const created = Math.floor(Date.now() / 1000)
  const charge = { customer: 'cus_ada', amount: 4_900, currency: 'eur', status: '' }
  const data = sampleEvent({ ...charge, id, type: 'charge.succeeded', created })
  const signature = signatureHeader(webhookSecret, data, created)
  return {
    url: `${baseUrl}/webhooks/billing`,
    headers: { ...json, 'webhook-signature': signature },
    data,
  }
}
