import { anOrder, people } from '../../orders.ts'
import { auth, forUser, prisma } from './auth.ts'

/* Signs users up with an order each. Prints the requests that read the orders as JSON. */

const reads: { path: string; cookie: string }[] = []
for (let n = 0; n < people; n++) {
  const { headers, response } = await auth.api.signUpEmail({
    body: { name: `Person ${n}`, email: `person${n}@example.com`, password: 'a long password' },
    returnHeaders: true,
  })
  const userId = response.user.id
  const order = await forUser(userId).order.create({ data: { userId, ...anOrder } })
  const cookies = headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
  reads.push({ path: `/orders/${order.id}`, cookie: cookies.join('; ') })
}
await prisma.$disconnect()
console.log(JSON.stringify(reads))
