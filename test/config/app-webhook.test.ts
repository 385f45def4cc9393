import t from 'tap'
import { readAppWebhook } from '#src/config/app-webhook.ts'

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const other = `whsec_${Buffer.alloc(24, 2).toString('base64')}`

function read(url: string | undefined, secrets: string | undefined) {
  const faults: string[] = []
  const webhook = readAppWebhook(
    {
      ...(url !== undefined && { APP_WEBHOOK_URL: url }),
      ...(secrets !== undefined && { APP_WEBHOOK_SECRETS: secrets }),
    },
    faults,
  )
  return { webhook, faults }
}

t.test('a URL with secrets, or neither', async (t) => {
  t.strictSame(read(undefined, undefined), { webhook: null, faults: [] })
  for (const url of [
    'https://app.example.com/billing',
    'http://10.0.0.7:8000/',
    'http://app/x?y',
  ]) {
    const webhook = { url, secrets: [secret, other] }
    t.strictSame(read(url, `${secret}, ${other}`), { webhook, faults: [] })
  }
})

t.test('anything else is refused at start, without repeating a secret', async (t) => {
  const cases: [string | undefined, string | undefined, RegExp][] = [
    [undefined, secret, /^APP_WEBHOOK_SECRETS: has no effect without APP_WEBHOOK_URL/],
    ['https://app.example.com', undefined, /^APP_WEBHOOK_SECRETS: is missing/],
    ['https://app.example.com', ' , ', /^APP_WEBHOOK_SECRETS: must have at least one value/],
    ['ftp://app.example.com', secret, /^APP_WEBHOOK_URL: must be an http/],
    ['app.example.com', secret, /^APP_WEBHOOK_URL: must be an http/],
    ['https://u:p@app.example.com', secret, /^APP_WEBHOOK_URL: .* without user, password/],
    ['https://app.example.com/#x', secret, /^APP_WEBHOOK_URL: .*fragment/],
    ['https://app.example.com/#', secret, /^APP_WEBHOOK_URL: .*fragment/],
    [`https://app.example.com/${'x'.repeat(2_048)}`, secret, /^APP_WEBHOOK_URL: /],
    [
      'https://app.example.com',
      'x'.repeat(40),
      /^APP_WEBHOOK_SECRETS: every secret must be whsec_/,
    ],
    ['https://app.example.com', `${secret},whsec_${'!'.repeat(40)}`, /^APP_WEBHOOK_SECRETS: every/],
  ]
  for (const [url, secrets, reason] of cases) {
    const { faults } = read(url, secrets)
    t.match(faults, [reason], String(url))
    t.equal(faults.length, 1, String(url))
    t.notMatch(faults.join(), /x{20}|!{20}|AQEB/)
  }
  t.match(read('https://app.example.com', 'whsec_short').faults.join(), /at least 38 characters/)
})
