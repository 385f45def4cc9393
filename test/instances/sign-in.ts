import type { Test } from 'tap'
import { newProviderBrowser } from '#dev/testing/provider-browser.ts'
import type { Instances } from './instances.ts'

/** A sign-in is bound to the browser that started it, not to a process. */
export async function signInAcross(t: Test, { ask }: Instances): Promise<void> {
  for (const [first, second] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const start = await ask(first, '/auth/login?provider=demo')
    const pending = cookieOf(start)
    const request = new URL(String(start.headers.get('location')))
    const callback = await newProviderBrowser().signIn(request, 'ada')
    const path = `${callback.pathname}${callback.search}`

    const stranger = await ask(second, path)
    t.equal(`${stranger.status} ${await stranger.text()}`, '400 bad state', 'in another browser')
    const back = await ask(second, path, { headers: { cookie: pending } })
    t.equal(back.status, 302, 'started in one process, finished in the other')
    const cookie = cookieOf(back)
    t.not(cookie, pending, 'a new session id')
    for (const web of [first, second]) {
      t.equal((await ask(web, '/me', { headers: { cookie } })).status, 200)
      const again = await ask(web, path, { headers: { cookie } })
      t.equal(
        `${again.status} ${await again.text()}`,
        '400 bad state',
        'the state is used only once',
      )
      t.equal((await ask(web, '/me', { headers: { cookie: pending } })).status, 401)
    }
  }
}

function cookieOf(response: Response): string {
  const session = response.headers.getSetCookie().find((text) => text.startsWith('sid='))
  return String(session).split(';')[0] ?? ''
}
