import t, { type Test } from 'tap'
import { startBillingApi } from '#dev/demo/billing-api.ts'
import { createProviderApi, type EventPage } from '#src/billing/provider-api.ts'

const key = 'a key of the billing API'

async function open(t: Test) {
  const sample = await startBillingApi(key)
  t.teardown(() => sample.stop())
  const api = createProviderApi({ url: sample.url, key })
  const now = Math.floor(Date.now() / 1_000)
  return {
    post: (path: string) => fetch(new URL(path, sample.url), { method: 'POST' }),
    list: (after: string | null = null) =>
      api.listEvents({ from: now - 86_400, to: now - 600, after }),
  }
}

function amountsOf({ items }: EventPage): number[] {
  return JSON.parse(JSON.stringify(items)).map(
    ({ data }: { data: { object: { amount: number } } }) => data.object.amount,
  )
}

t.test('each fault is in as many lists as were asked for', async (t) => {
  const { post, list } = await open(t)
  for (const amount of [10, 20, 30]) {
    t.equal((await post(`/events?customer=cus_ada&amount=${amount}`)).status, 201)
  }
  t.strictSame(amountsOf(await list()), [10, 20, 30])
  const cases: [fault: string, amounts: number[]][] = [
    ['forget', [10, 20]],
    ['repeat', [10, 20, 30, 10, 20, 30]],
    ['reorder', [30, 20, 10]],
    ['lie', [1, 1, 1]],
  ]
  for (const [fault, amounts] of cases) {
    t.equal((await post(`/${fault}?times=2`)).status, 200)
    t.strictSame(amountsOf(await list()), amounts, fault)
    t.strictSame(amountsOf(await list()), amounts, `${fault} again`)
    t.strictSame(amountsOf(await list()), [10, 20, 30], `${fault} no more`)
  }
})

t.test('a list has its fault on every page', async (t) => {
  const { post, list } = await open(t)
  for (let amount = 0; amount < 150; amount += 1) await post(`/events?amount=${amount}`)
  await post('/reorder')
  const first = await list()
  t.equal(amountsOf(first)[0], 149)
  t.equal(amountsOf(await list(first.next)).at(-1), 0)
})

t.test('an unknown fault or number is refused', async (t) => {
  const { post } = await open(t)
  for (const times of ['-1', '101', '1.5', 'x']) {
    t.equal((await post(`/lie?times=${times}`)).status, 400, times)
  }
  for (const path of ['/constructor', '/', '/v1/events'])
    t.equal((await post(path)).status, 404, path)
})
